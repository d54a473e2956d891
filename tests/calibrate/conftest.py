"""Logs for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def synthetic(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module that makes logs from known parameters."""
    return by_path("tests/calibrate/synthetic.py")


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of this room's logs."""
    return HERE / "data"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes a log and returns its path."""

    def write(text: str, name: str = "a.log") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write
