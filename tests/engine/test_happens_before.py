"""The happens-before check against hand-made races and a brute-force oracle."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import accumulate, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import COPY, Schedule
from collsim.engine.happens_before import _Log, check_order
from collsim.errors import InputError


def waiting(schedule: Schedule, waits: Sequence[Sequence[int]]) -> Schedule:
    """Return the schedule with other dependencies: those of each operation."""
    return dataclasses.replace(
        schedule,
        dep_ptr=np.array([0, *accumulate(len(w) for w in waits)], dtype=np.int64),
        dep=np.array([d for w in waits for d in w], dtype=np.int32),
    )


def made(name: str, ranks: int, author: Callable[[Builder], None]) -> Schedule:
    """Return the schedule that a function lists."""
    b = Builder(collective(name), ranks)
    author(b)
    return b.finish()


def chain(b: Builder) -> None:
    """Pass the broadcast on: 0 to 1, 1 to 2, 2 to 3."""
    for rank in range(3):
        b.copy(rank, rank + 1, b.pieces[0])


def test_a_read_before_the_write_is_over() -> None:
    """Rank 1 sends on what may not have come yet."""
    schedule = made("broadcast", 4, chain)
    assert check_order(schedule) is None
    assert check_order(waiting(schedule, [[], [], [1]])) == (
        "operation 0 (0 → 1) overwrites block 0 of rank 1 and operation 1 (1 → 2) reads it, "
        "in no fixed order"
    )


def test_a_write_before_the_read_is_over() -> None:
    """Rank 0's array must not be overwritten while rank 0 still sends it."""

    def author(b: Builder) -> None:
        b.reduce(0, 1, b.pieces[0])
        b.copy(1, 0, b.pieces[0])

    schedule = waiting(made("all_reduce", 2, author), [[], []])
    assert check_order(schedule) == (
        "operation 0 (0 → 1) reduces into block 0 of rank 1 and operation 1 (1 → 0) reads it, "
        "in no fixed order"
    )


def test_two_copies_into_one_place() -> None:
    """Which of two ranks wins must not be left to chance, even with equal data."""

    def author(b: Builder) -> None:
        b.copy(0, 2, b.pieces[0])
        b.copy(1, 2, b.pieces[1], into=b.pieces[0])

    schedule = waiting(made("all_gather", 3, author), [[], []])
    assert check_order(schedule) == (
        "operation 0 (0 → 2) overwrites block 0 of rank 2 and operation 1 (1 → 2) overwrites "
        "it, in no fixed order"
    )


def test_a_copy_and_a_reduction_into_one_place() -> None:
    """Before or after the reduction makes a difference."""

    def author(b: Builder) -> None:
        b.reduce(1, 0, b.pieces[0])
        b.copy(2, 0, b.pieces[0])

    schedule = made("reduce", 3, author)
    assert check_order(schedule) is None
    assert "reduces into block 0 of rank 0" in str(check_order(waiting(schedule, [[], []])))


def test_reductions_and_reads_commute() -> None:
    """Three ranks reduce into rank 0 at once, then three read from it at once."""

    def author(b: Builder) -> None:
        b.reduce([1, 2, 3], [0, 0, 0], np.zeros((3, 1), dtype=int))
        b.copy([0, 0, 0], [1, 2, 3], np.zeros((3, 1), dtype=int))

    schedule = made("all_reduce", 4, author)
    assert check_order(schedule) is None
    assert [schedule.waits_for(o).tolist() for o in range(6)] == [[]] * 3 + [[0, 1, 2]] * 3


def test_an_order_through_others_is_an_order() -> None:
    """The second overwrite waits for the first only through the read between them."""

    def author(b: Builder) -> None:
        b.copy(0, 1, b.pieces[0])
        b.copy(1, 2, b.pieces[0])
        b.copy(0, 1, b.pieces[0])

    schedule = made("broadcast", 3, author)
    assert schedule.waits_for(2).tolist() == [1]
    assert check_order(schedule) is None


def test_one_message_writes_a_place_once() -> None:
    """Two pieces copied into one place: the second may come first."""

    def author(b: Builder) -> None:
        place = b.scratch(1)
        b.copy(0, 1, b.pieces.ravel(), into=np.repeat(place, 2))

    assert check_order(made("reduce_scatter", 2, author)) == (
        "operation 0 (0 → 1) overwrites scratch place 0 of rank 1 twice"
    )


def test_a_rank_cannot_wait_for_messages_between_others() -> None:
    """Nobody tells rank 2 or rank 3 that 0 has sent to 1."""
    schedule = waiting(made("all_gather", 4, disjoint), [[], [0]])
    assert check_order(schedule) == (
        "operation 1 (2 → 3) waits for operation 0 (0 → 1), in which neither rank 2 nor "
        "rank 3 takes part"
    )


def disjoint(b: Builder) -> None:
    """Two messages that have nothing to do with each other."""
    b.copy([0, 2], [1, 3], b.pieces[[0, 2]])


@pytest.mark.parametrize("second", [(0, 3), (1, 3), (3, 0), (3, 1)])
def test_a_rank_may_wait_for_what_it_took_part_in(second: tuple[int, int]) -> None:
    """Sender and receiver both see both ends of their own messages."""

    def author(b: Builder) -> None:
        b.copy(0, 1, b.pieces[0])
        b.copy(*second, b.pieces[2])

    assert check_order(waiting(made("all_gather", 4, author), [[], [0]])) is None


def test_nobody_waits_for_the_future() -> None:
    """A schedule with such a dependency can't even be made."""
    with pytest.raises(InputError, match="expected an operation before the one that waits"):
        waiting(made("broadcast", 4, chain), [[1], [], []])


@pytest.mark.parametrize(("ranks", "operations"), [(64, 8064), (128, 32512)])
def test_a_large_ring_is_checked_whole(ranks: int, operations: int) -> None:
    """Sets of thousands of operations are dropped once nobody asks for them any more."""
    schedule = build("all_reduce", "ring", ranks)
    assert len(schedule) == operations
    assert check_order(schedule) is None
    last = int(schedule.dep.size) - 1
    dropped = [schedule.waits_for(o).tolist() for o in range(operations)]
    assert dropped[-1] == [int(schedule.dep[last])]
    dropped[-1] = []
    assert "in no fixed order" in str(check_order(waiting(schedule, dropped)))


# A few operations on three ranks and three places, most of which collide.
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 2]),
        st.sampled_from([0, 1, 2]),
        st.booleans(),
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=2),
    ),
    max_size=9,
)


def schedule_of(
    operations: list[tuple[int, int, bool, list[tuple[int, int]]]],
) -> Schedule:
    """Return the schedule of some (sender, receiver, copies, [(from, to), ...])."""

    def author(b: Builder) -> None:
        for src, dst, copies, moves in operations:
            add = b.copy if copies else b.reduce
            add(src, dst, [m[0] for m in moves], into=[m[1] for m in moves])

    return made("reduce_scatter", 3, author)


def breaks_itself(operation: tuple[int, int, bool, list[tuple[int, int]]]) -> bool:
    """Return whether an operation writes a place twice, or reads what it writes."""
    src, dst, copies, moves = operation
    read, written = ([move[i] for move in moves] for i in range(2))
    twice = copies and len(set(written)) < len(written)
    return twice or (src == dst and read != written and bool(set(read) & set(written)))


def racy(schedule: Schedule) -> bool:
    """Return whether a schedule breaks a rule, straight from the rules' definition."""
    before: list[set[int]] = []
    for o in range(len(schedule)):
        waits = schedule.waits_for(o).tolist()
        before.append({*waits, *(i for d in waits for i in before[d])})
        ends = {int(schedule.src[o]), int(schedule.dst[o])}
        if any(ends.isdisjoint({int(schedule.src[d]), int(schedule.dst[d])}) for d in waits):
            return True
        written = schedule.written(o).tolist()
        if schedule.kind[o] == COPY and len(set(written)) < len(written):
            return True
        read = schedule.carried(o).tolist()
        if len(ends) == 1 and read != written and set(read) & set(written):
            return True
    return any(
        place_a == place_b and (how_a != how_b or how_a == "copy") and a not in before[b]
        for a, b in combinations(range(len(schedule)), 2)
        for place_a, how_a in accesses(schedule, a)
        for place_b, how_b in accesses(schedule, b)
    )


def accesses(schedule: Schedule, o: int) -> list[tuple[tuple[int, int], str]]:
    """Return ((rank, place), "read", "copy" or "reduce") of an operation."""
    how = "copy" if schedule.kind[o] == COPY else "reduce"
    reads = [((int(schedule.src[o]), int(p)), "read") for p in schedule.carried(o)]
    return reads + [((int(schedule.dst[o]), int(p)), how) for p in schedule.written(o)]


@settings(max_examples=300)
@given(OPERATIONS, st.data())
def test_agrees_with_the_definition(
    operations: list[tuple[int, int, bool, list[tuple[int, int]]]], data: st.DataObject
) -> None:
    """Any operations, any dependencies: the same verdict as looking at every pair."""
    schedule = schedule_of(operations)
    waits = [
        sorted(data.draw(st.sets(st.integers(0, o - 1), max_size=3))) if o else []
        for o in range(len(schedule))
    ]
    schedule = waiting(schedule, waits)
    assert (check_order(schedule) is not None) == racy(schedule)


@settings(max_examples=300)
@given(OPERATIONS)
def test_the_builder_orders_everything_and_nothing_too_much(
    operations: list[tuple[int, int, bool, list[tuple[int, int]]]],
) -> None:
    """Derived dependencies pass, and without any one of them the check fails."""
    schedule = schedule_of([op for op in operations if not breaks_itself(op)])
    assert check_order(schedule) is None
    waits = [schedule.waits_for(o).tolist() for o in range(len(schedule))]
    for o, mine in enumerate(waits):
        for d in mine:
            fewer = [*waits[:o], [w for w in mine if w != d], *waits[o + 1 :]]
            assert check_order(waiting(schedule, fewer)) is not None


def test_a_message_to_oneself_may_not_read_what_it_writes() -> None:
    """Two pieces can't be swapped by one message: it has no moment at which it has both."""
    b = Builder(collective("all_gather"), 2)
    b.copy(0, 0, [0, 1], into=[1, 0])
    reason = check_order(b.finish())
    assert reason is not None
    assert "reads" in reason
    assert "while it writes it" in reason


def test_the_last_access_stands_for_those_before_it() -> None:
    """Of a place that is written over and over, the last write alone is compared."""
    log, compared = _Log(), 0
    for o in range(200):
        compared += len(log.rivals([0], [9], True))
        log.add(o, [0], [9], True)
    assert compared == 199
    assert log.all_rivals([0], [9], True) == set(range(200))


def test_the_first_of_those_that_are_not_waited_for_is_named() -> None:
    """Operation 2 waits for 0, whose write it follows, and not for 1."""
    b = Builder(collective("broadcast"), 3)
    b.copy(0, 1, b.pieces[0])
    b.copy(0, 1, b.pieces[0])
    b.copy(1, 2, b.pieces[0])
    schedule = b.finish()
    assert check_order(schedule) is None
    reason = str(check_order(waiting(schedule, [[], [0], [0]])))
    assert "operation 1 (0 → 1)" in reason
    assert "operation 2 (1 → 2)" in reason


def test_a_place_that_is_read_and_written_is_named_with_its_rank() -> None:
    """Rank 2 shifts its second and third part by one."""
    b = Builder(collective("broadcast"), 3, 2, parts=3)
    b.copy(2, 2, [1, 2], into=[2, 0])
    assert check_order(b.finish()) == (
        "operation 0 (2 → 2) reads block 0 part 2 of rank 2 while it writes it"
    )


def test_a_place_that_is_overwritten_twice_is_named_with_its_rank() -> None:
    """Both parts go to the first one of rank 1."""
    b = Builder(collective("broadcast"), 3, 2, parts=3)
    b.copy(2, 1, [0, 1, 2], into=[0, 2, 2])
    assert check_order(b.finish()) == (
        "operation 0 (2 → 1) overwrites block 0 part 2 of rank 1 twice"
    )
