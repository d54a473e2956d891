"""Whether two schedules are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.same import difference
from collsim.core.schedule import Schedule


@pytest.fixture
def ring() -> Schedule:
    """Return a schedule with waits, sums, copies and rounds."""
    return build("all_reduce", "ring", 3)


def changed(values: Any, at: int, value: int) -> Any:
    """Return an array with one entry changed."""
    array = np.array(values)
    array[at] = value
    return array


def test_a_schedule_equals_itself_built_again(ring: Schedule) -> None:
    """Arrays are compared, not objects."""
    assert difference(ring, build("all_reduce", "ring", 3)) is None


@pytest.mark.parametrize(
    ("name", "at", "value", "said"),
    [
        ("dst", 0, 2, "operation 0: dst is 1 in one and 2 in the other"),
        ("kind", 3, 0, "operation 3: kind is 1 in one and 0 in the other"),
        ("channel", 2, 1, "operation 2: channel is 0 in one and 1 in the other"),
        ("round", 4, 7, "operation 4: round is 1 in one and 7 in the other"),
        ("piece", 5, 2, "operation 5: piece is [0] in one and [2] in the other"),
        ("into", 1, 2, "operation 1: into is [0] in one and [2] in the other"),
        ("dep", 0, 1, "operation 3: dep is [2] in one and [1] in the other"),
    ],
)
def test_an_entry_that_differs(
    ring: Schedule, name: str, at: int, value: int, said: str
) -> None:
    """The first operation that differs, and how."""
    other = replace(ring, **{name: changed(getattr(ring, name), at, value)})
    assert difference(ring, other) == said


def test_what_else_differs(ring: Schedule) -> None:
    """Ranks, places, collective and length."""
    assert difference(ring, build("all_reduce", "ring", 4)) == (
        "ranks is 3 in one and 4 in the other"
    )
    assert (
        difference(ring, replace(ring, scratch=2)) == "scratch is 0 in one and 2 in the other"
    )
    one, other = build("scatter", "linear", 3), build("gather", "linear", 3)
    assert difference(one, other) == "one is of scatter, the other of gather"
    one, other = build("reduce", "ring", 3, chunks=1), build("reduce", "mst", 4)
    assert difference(one, replace(other, ranks=4)) == "ranks is 3 in one and 4 in the other"
    assert difference(build("broadcast", "mst", 4), build("broadcast", "mst", 4, 1)) == (
        "root is 0 in one and 1 in the other"
    )


def test_an_operation_more_is_told(ring: Schedule) -> None:
    """By how many there are, before any is compared."""
    shorter = build("broadcast", "ring", 3, chunks=1)
    longer = build("broadcast", "ring", 3, chunks=2)
    same_places = replace(longer, parts=1, scratch=1)
    assert difference(replace(shorter, scratch=1), same_places) == (
        f"one has {len(shorter)} operations, the other {len(longer)}"
    )
