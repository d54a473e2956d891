"""Points that contradict their neighbours, however well their own times agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from collsim.calibrate.neighbours import slow_points
from collsim.core.measurements_file import read_rows


def rows(*times: float, **more: Any) -> list[dict[str, Any]]:
    """Return a series from 8 bytes on by 4."""
    base = {"pattern": "collective", "collective": "all_reduce", "algorithm": "ring",
            "runs": "schedule", "ranks": 4, "relative_error": 0.015, **more}  # fmt: skip
    return [{**base, "size": 8 * 4**i, "seconds": t} for i, t in enumerate(times)]


def test_slow_points_before_faster_ones_are_named() -> None:
    """A size that took twice the time of a larger one, and no other."""
    (text,) = slow_points(rows(3e-3, 23.8e-3, 23.7e-3, 19.7e-3, 4e-3, 3.5e-3, 6e-3))
    assert text.startswith("3 points took more than twice as long as a larger size")
    assert "all_reduce/ring at 32B, 128B, 512B; measure them anew" in text
    (text,) = slow_points(rows(1e-3, 9e-3, 1e-3, pattern="shift"))
    assert text.startswith("1 point took")
    assert text.endswith("shift at 32B; measure it anew, into another file")


def test_what_grows_or_changes_protocol_is_fine() -> None:
    """A larger size may be somewhat faster; series are told apart; a row on its own is fine."""
    assert slow_points(rows(1e-3, 1.9e-3, 1e-3, 2e-3)) == []
    mst = rows(1e-5, 1e-5, algorithm="mst")
    assert slow_points([*rows(1e-3, 1e-3, 1e-3, 2e-3), *mst]) == []
    assert slow_points(rows(1e-3)) == []


def test_many_are_counted_and_some_named() -> None:
    """One line, however many."""
    (text,) = slow_points(rows(*[1.0] * 9, 1e-3))
    assert text.startswith("9 points")
    assert "at 8B, 32B, 128B, 512B ...; measure" in text


def test_the_example_is_of_a_quiet_machine(root: Path) -> None:
    """Four ranks of Gloo, as shipped."""
    assert slow_points(read_rows(root / "examples" / "gloo_4_ranks.jsonl")) == []
