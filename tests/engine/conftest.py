"""What the tests of this room share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def load(name: str) -> ModuleType:
    """Return a module of this folder that holds no tests."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    """Return the second simulator, which shares no code with the engine."""
    return load("oracle")


@pytest.fixture(scope="session")
def fair_oracle() -> ModuleType:
    """Return the second simulator for fair sharing."""
    return load("fair_oracle")


@pytest.fixture(scope="session")
def drawn() -> ModuleType:
    """Return what draws random programs and clusters."""
    return load("drawn")
