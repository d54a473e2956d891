"""Modules of a benchmark's folder, which import each other by their bare names."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType

import pytest

Modules = dict[str, ModuleType]


@contextlib.contextmanager
def _loaded(folder: Path, names: Sequence[str]) -> Iterator[Modules]:
    """Load them, and leave what others have loaded by such names as it was."""
    kept = {name: sys.modules.pop(name, None) for name in names}
    sys.path.insert(0, str(folder))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
            if kept[name] is not None:
                sys.modules[name] = kept[name]  # type: ignore[assignment]


@pytest.fixture(scope="session")
def bare_modules() -> Callable[[Path, Sequence[str]], AbstractContextManager[Modules]]:
    """Return what loads some modules of a folder while it is entered."""
    return _loaded
