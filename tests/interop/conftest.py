"""What the tests of the importers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from collsim.core.cluster import Cluster
from collsim.interop.topology_file import TopologyFile, import_topology

DATA = Path(__file__).resolve().parent / "data"

Load = Callable[[str | bytes], tuple[TopologyFile, Cluster]]


@pytest.fixture
def data() -> Path:
    """Return the folder of our own samples."""
    return DATA


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that imports a sample, or content, and loads what came out."""

    def loaded(what: str | bytes) -> tuple[TopologyFile, Cluster]:
        path = DATA / what if isinstance(what, str) else tmp_path / "given"
        if isinstance(what, bytes):
            path.write_bytes(what)
        found = import_topology(path)
        cluster = tmp_path / "cluster.toml"
        cluster.write_text(found.text, encoding="utf-8")
        return found, Cluster.load(cluster)

    return loaded
