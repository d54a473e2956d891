"""A schedule as ranks carry it out: every algorithm, whole elements, right data."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.builder import Builder
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.schedule import Schedule
from collsim.measure.execute import Executor, Problem, load, wrong
from collsim.measure.steps import plan, step_numbers

ALL = [(name, algorithm) for name in COLLECTIVES for algorithm in algorithm_names(name)]


@pytest.fixture(scope="module")
def wrong_elements(memory: ModuleType) -> Callable[..., int]:
    """Return a function that carries a schedule out on threads and counts wrong elements."""

    def count_wrong(
        schedule: Schedule, count: int, op: str = "sum", dtype: str = "float"
    ) -> int:
        problem = Problem(schedule.collective, schedule.ranks, schedule.root, dtype, op)

        def work(rank: Any) -> int:
            mine = plan(schedule, rank.rank, count)
            run = Executor(mine, rank, problem)
            for buffer in (run.memory, run.staging):
                rank.fill(buffer, 101)
            load(rank, problem, run.memory, mine.inputs)
            run()
            return wrong(rank, problem, run.memory, mine.outputs)

        return sum(memory.on_ranks(schedule.ranks, work))

    return count_wrong


@pytest.mark.parametrize(("name", "algorithm"), ALL, ids=["-".join(pair) for pair in ALL])
def test_every_algorithm_gives_the_right_elements(
    wrong_elements: Callable[..., int], name: str, algorithm: str
) -> None:
    """Of odd rank counts, odd sizes, none and one; any root; in chunks where it has them."""
    found = False
    for ranks in (2, 3, 4, 7, 8):
        node = None
        if refusal(name, algorithm, ranks):
            node = [r // 2 for r in range(ranks)]
            if refusal(name, algorithm, ranks, node):
                continue
        root = ranks - 1 if collective(name).rooted else 0
        for chunks in (1, 3) if find(name, algorithm).chunked else (1,):
            schedule = build(name, algorithm, ranks, root, chunks, node=node)
            for count in (0, 1, 29):
                assert wrong_elements(schedule, count) == 0
                found = True
    # Of in-switch algorithms ranks alone can carry out none.
    assert found or refusal(name, algorithm, 8, [0] * 4 + [1] * 4)


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "avg"])
def test_every_operation_in_two_types(wrong_elements: Callable[..., int], op: str) -> None:
    """Results are compared exactly, so numbers are chosen that the type can hold."""
    schedule = build("all_reduce", "ring", 5)
    assert wrong_elements(schedule, 23, op, "half") == 0
    assert wrong_elements(schedule, 23, op, "double") == 0


def test_a_lost_message_shows(wrong_elements: Callable[..., int]) -> None:
    """An all_gather that leaves out its last message is found wrong where it is missing."""
    builder = Builder(collective("all_gather"), 2)
    builder.next_round()
    builder.copy(0, 1, builder.pieces[0])
    assert wrong_elements(builder.finish(), 8) == 4


def test_a_contribution_that_counts_twice_shows(wrong_elements: Callable[..., int]) -> None:
    """Sums hide much, but not from numbers that are all different."""
    builder = Builder(collective("reduce"), 2)
    for _ in range(2):
        builder.next_round()
        builder.reduce(1, 0, builder.pieces[0])
    assert wrong_elements(builder.finish(), 6) == 6


def test_steps_follow_rounds_and_data() -> None:
    """A binomial broadcast sends in its rounds although nothing else holds the root back."""
    schedule = build("broadcast", "mst", 8)
    assert step_numbers(schedule).tolist() == schedule.round.tolist()
    assert schedule.waits_for(int(np.flatnonzero(schedule.src == 0)[-1])).size == 0


def test_messages_are_sent_whole_and_empty_ones_not() -> None:
    """Three elements on four ranks: the rank with none neither sends nor is waited for."""
    schedule = build("all_gather", "linear", 4)
    plans = [plan(schedule, rank, 3) for rank in range(4)]
    sent = [sum(len(step.departures) for step in one.steps) for one in plans]
    got = [sum(len(step.arrivals) for step in one.steps) for one in plans]
    assert sent[3] == 0
    assert sum(sent) == sum(got)


def test_data_that_lie_together_travel_without_a_copy() -> None:
    """A ring passes contiguous blocks; only what is added up is received apart."""
    made = plan(build("all_gather", "ring", 4), 1, 16)
    assert made.staging == 0
    assert plan(build("all_reduce", "ring", 4), 1, 16).staging == 4
