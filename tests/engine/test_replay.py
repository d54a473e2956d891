"""Symbolic replay: one contribution counted per source rank."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.schedule import Schedule
from collsim.engine.execute import execute
from collsim.engine.reference import reference
from collsim.engine.replay import finish_order, replay
from collsim.engine.simulate import simulate


def made(
    name: str, ranks: int, author: Callable[[Builder], None], root: int = 0, parts: int = 1
) -> Schedule:
    """Return the schedule that a function lists."""
    b = Builder(collective(name), ranks, root, parts=parts)
    author(b)
    return b.finish()


def listed(schedule: Schedule) -> str | None:
    """Replay in the order in which the author listed the operations."""
    return replay(schedule, range(len(schedule)))


@pytest.mark.parametrize("name", COLLECTIVES)
def test_nothing_to_do_for_one_rank(name: str) -> None:
    """What one rank must hold in the end it has at the beginning."""
    assert listed(made(name, 1, lambda b: None)) is None


@pytest.mark.parametrize("name", COLLECTIVES)
def test_doing_nothing_is_wrong_for_two_ranks(name: str) -> None:
    """An empty schedule leaves every collective undone."""
    assert str(listed(made(name, 2, lambda b: None))).startswith("at the end rank")


def test_sending_what_is_not_there() -> None:
    """Rank 1 has nothing to broadcast before rank 0 has sent to it."""

    def author(b: Builder) -> None:
        b.copy(1, 2, b.pieces[0])
        b.copy(0, 1, b.pieces[0])

    assert listed(made("broadcast", 3, author)) == (
        "operation 0 (1 → 2) sends block 0, but rank 1 holds nothing there"
    )


def test_counting_a_contribution_twice() -> None:
    """Rank 2's own reaches rank 0 straight and over rank 1."""

    def author(b: Builder) -> None:
        b.reduce(2, 1, b.pieces[0])
        b.reduce(2, 0, b.pieces[0])
        b.reduce(1, 0, b.pieces[0])

    assert listed(made("reduce", 3, author)) == (
        "operation 2 (1 → 0) counts the contribution of rank 2 twice in block 0 of rank 0"
    )


def test_a_double_count_that_a_sum_hides() -> None:
    """With numbers that cancel the sum comes out right; counting sources finds it."""

    def author(b: Builder) -> None:
        b.reduce(2, 1, b.pieces[0])
        b.reduce([3, 2, 1], [0, 0, 0], np.zeros((3, 1), dtype=int))

    schedule = made("reduce", 4, author)
    inputs = [np.array([5, 1]), np.array([-2, 8]), np.array([0, 0]), np.array([2, -8])]
    assert execute(schedule, inputs)[0] is not None
    assert np.array_equal(execute(schedule, inputs)[0], reference("reduce", inputs)[0])
    assert "counts the contribution of rank 2 twice" in str(listed(schedule))


def test_missing_contributions_are_named() -> None:
    """Ranks 1 and 3 never send."""

    def author(b: Builder) -> None:
        b.reduce(2, 0, b.pieces[0])

    assert listed(made("reduce", 4, author)) == (
        "at the end rank 0 lacks the contributions of ranks 1, 3 in block 0"
    )


def test_a_missing_part_is_named() -> None:
    """The second part of the array stays at home."""

    def author(b: Builder) -> None:
        b.copy(0, 1, b.pieces[0, :1])

    assert listed(made("broadcast", 2, author, parts=2)) == (
        "at the end rank 1 holds nothing in block 0 part 1"
    )


def test_data_in_the_wrong_place() -> None:
    """Rank 1's share goes where rank 0's belongs."""

    def author(b: Builder) -> None:
        b.copy([0, 1], [1, 0], b.pieces, into=[[0], [0]])

    assert listed(made("all_gather", 2, author)) == "at the end rank 0 holds block 1 in block 0"


def test_different_pieces_are_not_combined() -> None:
    """Element 0 is not to be added to element 1."""

    def author(b: Builder) -> None:
        b.reduce(1, 0, b.pieces[0], into=b.pieces[1])

    assert listed(made("reduce_scatter", 2, author)) == (
        "operation 0 (1 → 0) combines block 0 with block 1 in block 1 of rank 0"
    )


def test_reducing_into_memory_that_holds_anything() -> None:
    """An empty scratch place counts as nothing; the caller's memory holds anything."""

    def author(b: Builder) -> None:
        b.reduce(0, 1, b.pieces[0])

    assert listed(made("broadcast", 2, author)) == (
        "operation 0 (0 → 1) reduces into block 0, but rank 1 holds nothing there"
    )


def test_an_operation_reads_all_before_it_writes() -> None:
    """Two places of one rank can be exchanged by one message of a rank to itself."""

    def author(b: Builder) -> None:
        b.copy(0, 1, b.pieces.ravel(), into=b.pieces.ravel()[::-1])
        b.copy(1, 1, b.pieces.ravel(), into=b.pieces.ravel()[::-1])

    assert listed(made("broadcast", 2, author, parts=2)) is None


def test_finish_order_is_by_time_then_index() -> None:
    """Operation 1 of a linear broadcast from rank 0 is no earlier than operation 0."""
    cluster = Cluster.ideal(5, alpha=1e-6, bandwidth=1e9)
    mst = finish_order(simulate(build("broadcast", "mst", 5), cluster, 1000))
    assert mst.tolist() == [0, 1, 2, 3]
    chain = build("broadcast", "ring", 5, chunks=2)
    order = finish_order(simulate(chain, cluster, 0))
    assert [int(chain.round[o]) for o in order] == sorted(chain.round.tolist())


def test_finish_order_differs_from_the_list() -> None:
    """Who lists a late round first still gets the order of times."""

    def author(b: Builder) -> None:
        b.copy(0, 1, b.pieces[0])
        b.copy(1, 2, b.pieces[0])
        b.copy(3, 4, b.pieces[3])

    schedule = made("all_gather", 5, author)
    order = finish_order(simulate(schedule, Cluster.ideal(5, alpha=1e-6, bandwidth=1e9), 0))
    assert order.tolist() == [0, 2, 1]
