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
        ("piece_ptr", [0, 1, 4], "piece_ptr must have 4 entries, from 0 to 4"),
        ("piece_ptr", [0, 1, 3, 4, 4], "piece_ptr must have 4 entries, from 0 to 4"),
        ("piece_ptr", [1, 1, 3, 4], "piece_ptr must have 4 entries, from 0 to 4"),
        ("piece_ptr", [0, 1, 3, 5], "piece_ptr must have 4 entries, from 0 to 4"),
        ("piece_ptr", [0, 2, 1, 4], "piece_ptr must not decrease"),
        ("dep_ptr", [0, 0, 0, 0], "dep_ptr must have 4 entries, from 0 to 1"),
        ("src", [2, 1, 2, 0], "dst has 3 entries, expected 4"),
        ("channel", [0], "channel has 1 entries, expected 3"),
        ("round", [0, 0], "round has 2 entries, expected 3"),
        ("piece", [0, 0, 1, -1], r"piece\[3\] is -1, expected 0 to 1"),
        ("into", [0, 2, 1, 1], r"into\[1\] is 2, expected 0 to 1"),
        ("kind", [0, -1, 0], r"kind\[1\] is -1, expected 0 to 1"),
        ("dep", [3], r"dep\[0\] is 3, expected 0 to 2"),
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
        ({"root": 4}, "^root: got 4, expected a rank from 0 to 3$"),
        ({"agents": -1}, "^agents: got -1, expected 0 or more switches$"),
    ],
)
def test_counts_that_cannot_be_are_refused(change: dict[str, int], expected: str) -> None:
    """Parts, scratch and root, before anything divides by them."""
    with pytest.raises(InputError, match=expected):
        replace(build("broadcast", "mst", 4), **change)


def test_places_are_pieces_and_scratch(schedule: Schedule) -> None:
    """Rooms to spare are no error; each has its place after the pieces."""
    roomy = replace(schedule, scratch=3, into=np.array([0, 4, 1, 1]))
    assert (roomy.pieces, roomy.places) == (2, 5)
    with pytest.raises(InputError, match=r"into\[1\] is 5, expected 0 to 4"):
        replace(roomy, into=np.array([0, 5, 1, 1]))


def test_switches_take_part_after_the_ranks() -> None:
    """Of 4 ranks on 2 nodes the switches are 4 and 5; messages go from or to a rank."""
    b = Builder(collective("all_reduce"), 4, node=[0, 0, 1, 1], multicast=True)
    b.reduce([0, 1], [4, 4], [[0], [0]])
    assert (b.finish().agents, b.finish().parties) == (1, 5)
    b.copy(5, 3, [0])
    whole = b.finish()
    assert (whole.agents, whole.parties, whole.party(5)) == (2, 6, "switch of node 1")
    b.copy(4, 5, [0])
    with pytest.raises(
        InputError,
        match=r"^schedule: operation 3 goes from the switch of node 0 to the switch of node 1, "
        r"expected a rank at one end$",
    ):
        b.finish()
    with pytest.raises(InputError, match=r"src\[2\] is 5, expected 0 to 4"):
        replace(whole, agents=1)


def test_a_schedule_without_operations_has_no_rounds() -> None:
    """Nor turns, nor a width, made by the builder or by hand."""
    empty = Builder(collective("broadcast"), 1).finish()
    columns = ("src", "dst", "kind", "channel", "round", "piece_ptr", "piece", "into")
    given = {name: getattr(empty, name) for name in (*columns, "dep_ptr", "dep")}
    by_hand = Schedule(collective("broadcast"), 1, 0, 1, 0, **given)
    for one in (empty, by_hand):
        assert (len(one), one.rounds, one.turns, one.width) == (0, 0, 0, 0)


def test_counts_by_hand_are_those_of_the_builder(schedule: Schedule) -> None:
    """Rounds, turns and width follow from the arrays: made anew, they are the same."""
    for made in (schedule, build("all_reduce", "ring", 5), build("scatter", "mst", 6)):
        again = replace(made)
        for name in ("rounds", "turns", "width", "pieces", "places", "parties"):
            assert getattr(again, name) == getattr(made, name), name
        for name in ("src", "channel", "round", "piece_ptr", "dep_ptr"):
            assert getattr(again, name).tolist() == getattr(made, name).tolist()
            assert not getattr(again, name).flags.writeable
    two_runs = replace(schedule, round=np.array([0, 1, 0]))
    assert (two_runs.rounds, two_runs.turns) == (2, 3)


def test_a_name_that_no_schedule_has_is_an_error(schedule: Schedule) -> None:
    """As of any object."""
    with pytest.raises(AttributeError, match=r"^'Schedule' has no attribute 'colour'$"):
        schedule.colour  # noqa: B018
