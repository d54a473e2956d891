"""A schedule is checked once, when it is made."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import Schedule
from collsim.errors import InputError


@pytest.fixture
def schedule() -> Schedule:
    """Return 0 -> 1 -> 2, then 1 -> 0, of an array of 2 pieces."""
    b = Builder(collective("all_reduce"), 3, parts=2)
    for src, dst, pieces in ((0, 1, [0]), (1, 2, [0, 1]), (1, 0, [1])):
        b.next_round()
        b.reduce(src, dst, pieces)
    return b.finish()


def test_operations_say_what_they_carry_and_wait_for(schedule: Schedule) -> None:
    """The second sends what the first brought; the third sends what nobody brought."""
    assert [schedule.carried(i).tolist() for i in range(3)] == [[0], [0, 1], [1]]
    assert [schedule.waits_for(i).tolist() for i in range(3)] == [[], [0], []]


def test_fractions_are_of_the_buffer(schedule: Schedule) -> None:
    """Two pieces are the whole array of a rank."""
    assert schedule.piece_share == 0.5
    assert schedule.fraction.tolist() == [0.5, 1.0, 0.5]


def test_it_is_frozen(schedule: Schedule) -> None:
    """Built once, simulated at every size."""
    with pytest.raises(FrozenInstanceError):
        schedule.ranks = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("dst", [1, 2], "dst has 2 entries, expected 3"),
        ("src", [0, 3, 1], r"src\[1\] is 3, expected 0 to 2"),
        ("dst", [1, 2, -1], r"dst\[2\] is -1, expected 0 to 2"),
        ("piece", [0, 0, 1, 2], r"piece\[3\] is 2, expected 0 to 1"),
        ("into", [0, 0, 1], "into has 3 entries, expected 4"),
        ("kind", [0, 2, 0], r"kind\[1\] is 2, expected 0 to 1"),
        ("piece_ptr", [0, 1, 3], "piece_ptr must have 4 entries, from 0 to 4"),
        ("piece_ptr", [0, 3, 1, 4], "piece_ptr must not decrease"),
        ("dep_ptr", [0, 0, 0, 0], "dep_ptr must have 4 entries, from 0 to 1"),
        ("dep", [1], r"dep\[0\] is 1, expected an operation before the one that waits"),
        ("dep", [-1], r"dep\[0\] is -1"),
    ],
)
def test_wrong_arrays_are_named(
    schedule: Schedule, name: str, values: list[int], message: str
) -> None:
    """The field, the place, the value."""
    with pytest.raises(InputError, match=message):
        replace(schedule, **{name: np.array(values)})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"parts": 0}, "^parts: got 0, expected a whole number from 1 up$"),
        ({"scratch": -1}, "^scratch: got -1, expected 0 or more places$"),
        ({"root": -1}, "^root: got -1, expected a rank from 0 to 3$"),
    ],
)
def test_counts_that_cannot_be_are_refused(change: dict[str, int], expected: str) -> None:
    """Parts, scratch and root, before anything divides by them."""
    with pytest.raises(InputError, match=expected):
        replace(build("broadcast", "mst", 4), **change)
