"""Logs for the tests of this room."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def synthetic() -> ModuleType:
    """Return the module that makes logs from known parameters."""
    spec = importlib.util.spec_from_file_location("synthetic", HERE / "synthetic.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
