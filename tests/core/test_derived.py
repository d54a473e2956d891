"""What a builder derives is not checked again: here it is, and what is made when asked for."""

from __future__ import annotations

import copy
from dataclasses import fields, replace

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core import dependencies
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import COPY, Schedule

CASES = [
    ("all_reduce", "ring", 5),
    ("all_reduce", "hierarchical", 8),
    ("all_to_all", "bruck", 6),
    ("scatter", "mst", 7),
    ("broadcast", "ring", 1),
]


def made(kind: str, algorithm: str, ranks: int) -> Schedule:
    """Return a schedule, on two nodes where there are eight ranks."""
    node = np.arange(ranks) // 4 if ranks == 8 else None
    return build(kind, algorithm, ranks, node=node)


@pytest.mark.parametrize(("kind", "algorithm", "ranks"), CASES)
def test_it_passes_the_checks_of_any_schedule(kind: str, algorithm: str, ranks: int) -> None:
    """A copy is made by the constructor, which checks every column."""
    schedule = made(kind, algorithm, ranks)
    checked = replace(schedule)
    for field in fields(schedule):
        one, other = getattr(schedule, field.name), getattr(checked, field.name)
        assert np.array_equal(one, other), field.name
        if isinstance(one, np.ndarray):
            assert not one.flags.writeable
    names = ("width", "rounds", "turns")
    assert [getattr(checked, name) for name in names] == [
        getattr(schedule, name) for name in names
    ]


def test_columns_that_are_made_later_are_those_that_were_listed() -> None:
    """Two messages of two pieces, then one of two; and rounds that begin at 0."""
    b = Builder(collective("all_reduce"), 3, parts=4)
    b.copy([0, 1], [1, 2], [[0, 1], [2, 3]])
    b.next_round()
    b.copy(2, 0, [0, 3])
    schedule = b.finish()
    assert "piece_ptr" not in vars(schedule)
    assert schedule.piece_ptr.tolist() == [0, 2, 4, 6]
    assert schedule.round.tolist() == [0, 0, 1]
    assert (schedule.width, schedule.rounds, schedule.turns) == (2, 2, 2)
    assert vars(schedule)["piece_ptr"] is schedule.piece_ptr


def test_unequal_widths_have_no_width() -> None:
    """A message of one piece, and one of two."""
    b = Builder(collective("all_reduce"), 2, parts=2)
    b.copy(0, 1, [0])
    b.copy(1, 0, [0, 1])
    schedule = b.finish()
    assert (schedule.width, schedule.piece_ptr.tolist()) == (0, [0, 1, 3])


def test_a_copy_makes_its_later_columns_too() -> None:
    """Copied before they are made, and after."""
    schedule = build("all_reduce", "ring", 4)
    for _ in range(2):
        assert copy.copy(schedule).round.tolist() == schedule.round.tolist()


def test_what_is_no_column_is_no_attribute() -> None:
    """As with any object."""
    with pytest.raises(AttributeError, match="'Schedule' has no attribute 'rouns'"):
        _ = build("all_reduce", "ring", 2).rouns  # type: ignore[attr-defined]


def test_a_block_is_what_its_rounds_are() -> None:
    """Rounds of two channels, listed at once or one by one."""
    ends = np.arange(3), (np.arange(3) + 1) % 3
    pieces = np.arange(18).reshape(3, 2, 3) % 6
    at_once, one_by_one = (
        Builder(collective("all_gather"), 3, parts=1, channels=2) for _ in range(2)
    )
    at_once.block(COPY, *ends, pieces)
    for row in pieces:
        one_by_one.next_round()
        for channel, own in enumerate(row):
            one_by_one.copy(*ends, own[:, None], channel=channel)
    found, right = at_once.finish(), one_by_one.finish()
    for name in ("src", "dst", "kind", "channel", "round", "piece_ptr", "piece", "dep"):
        assert np.array_equal(getattr(found, name), getattr(right, name)), name


@pytest.mark.parametrize("algorithm", ["direct", "pairwise", "bruck"])
def test_places_that_are_never_touched_change_nothing(
    monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    """Of P places of every rank few are: numbered by sorting, and compiled, rank by rank."""
    plain = build("all_to_all", algorithm, 32)
    monkeypatch.setattr(dependencies, "COMPILE_FROM", 0)
    fast = build("all_to_all", algorithm, 32)
    assert np.array_equal(plain.dep_ptr, fast.dep_ptr)
    assert np.array_equal(plain.dep, fast.dep)
