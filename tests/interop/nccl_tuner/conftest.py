"""What the tests of the tuner's file share."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def reader(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the reader that shares no code with the writer."""
    return by_path("tests/interop/nccl_tuner/plugin.py")
