"""The page of mutation is what the benchmark writes of what was tried."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MUTATION = ROOT / "benchmarks" / "mutation"
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def mutation(bare_modules: Callable[..., Any]) -> Iterator[dict[str, ModuleType]]:
    """Return the modules that need no cosmic-ray; they import each other by bare names."""
    with bare_modules(MUTATION, ("mutant", "rooms", "reach", "page")) as modules:
        yield modules


def row(room: str, outcome: str, of: int = 1, line: int = 7) -> dict[str, Any]:
    """Return what came of a mutant."""
    return {
        "room": room, "outcome": outcome, "of": of, "file": f"collsim/{room}/x.py",
        "line": line, "before": "a | b", "after": "a & b", "cpu": 1.0,
    }  # fmt: skip


RESULT = {
    "seed": 5, "asked": 4, "by": "mutant", "commit": "abc", "minutes": 12.4, "cpu_minutes": 3.0,
    "counts": {
        "engine": {"places": 1000, "mutants": 4000, "types": 3},
        "fit": {"places": 10, "mutants": 30},
    },
    "rows": [
        row("engine", "killed", 11), row("engine", "hung"), row("engine", "survived", 4),
        row("fit", "import"),
    ],
}  # fmt: skip


def test_the_page_is_made_of_what_was_tried(mutation: dict[str, ModuleType]) -> None:
    """To the letter, and every survivor of the last sample has its reason."""
    found = json.loads((DOCS / "mutation.json").read_text(encoding="utf-8"))
    assert found["schema"] == mutation["page"].SCHEMA
    assert (DOCS / "mutation.md").read_text(encoding="utf-8") == mutation["page"].page(found)
    assert mutation["page"].unexplained(found) == []


def test_counts_and_rates(mutation: dict[str, ModuleType]) -> None:
    """Worked by hand: three of four killed, one of them by time, and 13 of 17 by weight."""
    page = mutation["page"]
    sample = page.summary("one", [RESULT])
    found = {"longest": 1.0, "patience": 10.0, "samples": [sample]}
    assert page.unexplained(found) == sample["survivors"]
    lines = page.page(found).splitlines()
    assert "| one | mutant | 5 | 4 | 3 | 1 | 1 | 75.0 % | not told | 76.5 % | 12 | 3 |" in lines
    assert "| engine | 1,000 | 4,000 | 3 | 3 | 2 | 1 | 66.7 % |" in lines
    assert "| fit | 10 | 30 | 0 | 1 | 1 | 0 | 100.0 % |" in lines
    known = [sample["survivors"][0] | {"kind": "same", "reason": "no bit is in both"}]
    told = page.summary("one", [RESULT], known)
    assert page.unexplained(found | {"samples": [told]}) == []
    lines = page.page(found | {"samples": [told]}).splitlines()
    assert "| one | mutant | 5 | 4 | 3 | 1 | 1 | 75.0 % | 100.0 % | 76.5 % | 12 | 3 |" in lines
    said = "| engine/x.py:7 | `` a \\| b `` → `` a & b `` | same: no bit is in both |"
    assert said in lines


def test_a_mutant_is_tried_by_the_tests_of_its_room_that_reach_it(
    mutation: dict[str, ModuleType],
) -> None:
    """The quickest first; whoever imports a file may notice what happens then."""
    mutant = mutation["mutant"].Mutant(
        "engine", "collsim/engine/x.py", "AddNot", 4, (3, 4), "a", "b", "", 1
    )
    seconds = {
        "tests/engine/test_a.py::slow": 0.9, "tests/engine/test_a.py::quick": 0.1,
        "tests/core/test_b.py::other": 0.1, "tests/engine/test_c.py::beside": 0.1,
        "tests/test_frozen.py::all": 0.2,
    }  # fmt: skip
    lines = {
        "3": ["tests/core/test_b.py::other", "tests/engine/test_a.py::slow"],
        "4": ["tests/engine/test_a.py::quick"],
        "9": ["tests/engine/test_c.py::beside"],
    }
    reach = {"tests": seconds, "lines": {"collsim/engine/x.py": lines}}
    tests_of = mutation["reach"].tests_of
    assert list(tests_of(mutant, reach)) == [
        "tests/engine/test_a.py::quick", "tests/engine/test_a.py::slow",
    ]  # fmt: skip
    lines["3"].append("")
    assert list(tests_of(mutant, reach)) == [
        "tests/engine/test_a.py::quick", "tests/engine/test_a.py::slow",
        "tests/test_frozen.py::all", "tests/engine/test_c.py::beside",
    ]  # fmt: skip


def test_every_room_has_its_files_and_tests(mutation: dict[str, ModuleType]) -> None:
    """None is mutated by two rooms, and what is named is there."""
    rooms = mutation["rooms"].ROOMS
    files = [file for room in rooms.values() for file in room.files(ROOT)]
    assert len(files) == len(set(files)) > 100
    for room in rooms.values():
        assert all(list(ROOT.glob(pattern)) for pattern in room.sources)
        assert all(list(ROOT.glob(f"{test.rstrip('/')}*")) for test in room.tests)
