"""What the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

ByPath = Callable[[str], ModuleType]


@pytest.fixture(scope="session")
def oracle(by_path: ByPath) -> ModuleType:
    """Return the second simulator, which shares no code with the engine."""
    return by_path("tests/engine/oracle.py")


@pytest.fixture(scope="session")
def fair_oracle(by_path: ByPath) -> ModuleType:
    """Return the second simulator for fair sharing."""
    return by_path("tests/engine/fair_oracle.py")


@pytest.fixture(scope="session")
def drawn(by_path: ByPath) -> ModuleType:
    """Return what draws random programs and clusters."""
    return by_path("tests/engine/drawn.py")


@pytest.fixture(scope="session")
def features(by_path: ByPath) -> ModuleType:
    """Return what tells what a drawn case has in it."""
    return by_path("tests/engine/features.py")


@pytest.fixture(scope="session")
def data_oracle(by_path: ByPath) -> ModuleType:
    """Return what moves real data in random legal orders."""
    return by_path("tests/engine/data_oracle.py")


@pytest.fixture(scope="session")
def broken(by_path: ByPath) -> ModuleType:
    """Return what makes schedules, right and broken ones."""
    return by_path("tests/engine/broken.py")
