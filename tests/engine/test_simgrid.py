"""Fair sharing against SimGrid's recorded answers; `benchmarks/simgrid` made them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

RECORD = Path(__file__).parent / "data" / "simgrid.json"


@pytest.fixture(scope="module")
def simgrid(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module that lists the cases."""
    return by_path("benchmarks/simgrid/cases.py")


def test_completion_times_agree_with_simgrid(simgrid: ModuleType) -> None:
    """Every message of every case to 1e-6, though 1e-3 is asked; no case is left out."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    assert recorded["simgrid"]
    cases = list(simgrid.cases())
    assert [case.name for case in cases] == list(recorded["finish"])
    assert sum(case.name.startswith("random") for case in cases) == 200
    for case in cases:
        times = simgrid.finish(case).tolist()
        assert times == pytest.approx(recorded["finish"][case.name], rel=1e-6), case.name
