"""What the tests of the tuner's file share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def reader() -> ModuleType:
    """Return the reader that shares no code with the writer."""
    path = Path(__file__).parent / "plugin.py"
    spec = importlib.util.spec_from_file_location("nccl_tuner_plugin", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
