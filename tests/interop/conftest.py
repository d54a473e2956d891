"""What the tests of other tools' files share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.interop.topology_file import TopologyFile, import_topology

DATA = Path(__file__).resolve().parent / "data"

Load = Callable[[str | bytes], tuple[TopologyFile, Cluster]]
Schedules = Callable[[str, str, range], Iterator[tuple[str, Schedule]]]


@pytest.fixture(scope="session")
def schedules(by_path: Callable[[str], ModuleType]) -> Schedules:
    """Return a function that yields schedules of an algorithm in several settings."""
    found: Schedules = by_path("tests/interop/algorithms.py").schedules
    return found


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
