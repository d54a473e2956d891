"""What the tests of NCCL's model share."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture
def data() -> Path:
    """Return the folder of our own samples."""
    return HERE / "data"


@pytest.fixture
def graph_dump() -> Path:
    """Return the graphs of the communicator whose table is in the samples."""
    return HERE.parent / "interop" / "data" / "nccl_graph_dump_2_ranks_one_gpu.xml"
