"""What the tests of this room share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    """Return the second simulator, which shares no code with the engine."""
    spec = importlib.util.spec_from_file_location("oracle", HERE / "oracle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
