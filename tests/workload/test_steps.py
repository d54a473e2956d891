"""The tasks of a step: order of passes, what is started ahead, and the pipeline's bubble."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collsim.workload.clock import Cost, idle, run
from collsim.workload.parts import Call, Part, Use
from collsim.workload.steps import Task, order_1f1b, tasks

GATHER = Call("data", "all_gather", 1.0, "parameters")
SCATTER = Call("data", "reduce_scatter", 1.0, "gradients")


def made(*parts: Part, stages: int = 1, **more: Any) -> list[Task]:
    """Return the tasks of stages of equal parts."""
    usual = {"micro_batches": 1, "prefetch": 1, "message": 1.0, "optimizer": 0.0}
    return tasks([parts] * stages, **{**usual, **more})


def stream(todo: list[Task], name: str, stage: int = 0) -> list[str]:
    """Return what a stream does, in order."""
    return [task.name for task in todo if (task.stage, task.stream) == (stage, name)]


def free(todo: list[Task], seconds: float = 0.0) -> dict[Call, Cost]:
    """Return costs of all calls."""
    return {t.call: Cost(seconds, np.zeros(1)) for t in todo if t.call is not None}


def test_forward_then_backward() -> None:
    """Parts in order, then in the reverse order, then the optimizer."""
    todo = made(Part("a"), Part("b"))
    assert stream(todo, "compute") == [
        "forward a", "forward b", "backward b", "backward a", "optimizer",
    ]  # fmt: skip


@pytest.mark.parametrize(("stages", "batches"), [(1, 3), (2, 1), (3, 5), (4, 4), (4, 9)])
def test_passes_of_a_stage(stages: int, batches: int) -> None:
    """Each batch once each way, forward first, and never more under way than stages."""
    for stage in range(stages):
        order = order_1f1b(stages, batches, stage)
        assert [i for phase, i in order if phase == "forward"] == list(range(batches))
        assert [i for phase, i in order if phase == "backward"] == list(range(batches))
        under_way = np.cumsum([1 if phase == "forward" else -1 for phase, _ in order])
        assert under_way.min() == 0
        assert under_way.max() <= stages - stage


@pytest.mark.parametrize(("stages", "batches"), [(2, 4), (4, 4), (4, 12), (3, 7)])
def test_the_bubble_is_that_of_the_paper(stages: int, batches: int) -> None:
    """(p - 1)/m of the ideal time (Narayanan et al. 2021, section 2.2), with free messages."""
    todo = made(Part("a", 1.0, 2.0), stages=stages, micro_batches=batches)
    events = run(todo, free(todo))
    ideal = 3.0 * batches
    assert max(e.end for e in events) == pytest.approx(ideal * (1 + (stages - 1) / batches))
    exposed, bubble = idle(events, 0)
    assert sum(exposed.values()) == 0
    assert bubble == pytest.approx(ideal * (stages - 1) / batches)


def test_a_gather_is_started_one_part_ahead() -> None:
    """That of the third part when the second one starts, hence when the first is done."""
    parts = [Part(name, 4.0, before_forward=(Use(GATHER),)) for name in "abc"]
    for prefetch, starts in ((1, [0, 1, 5]), (0, [0, 5, 10]), (2, [0, 1, 2])):
        todo = made(*parts, prefetch=prefetch)
        events = run(todo, free(todo, 1.0))
        assert [e.start for e in events if e.task.stream == "data"] == starts


def test_a_gather_ahead_goes_before_gradients() -> None:
    """In backward the next part's parameters are called before this part's gradients."""
    parts = [
        Part(name, before_backward=(Use(GATHER),), after_backward=(Use(SCATTER),))
        for name in "abc"
    ]
    assert stream(made(*parts), "data") == [
        "parameters", "parameters", "gradients", "parameters", "gradients", "gradients",
    ]  # fmt: skip


def test_gradients_of_the_last_batch_only() -> None:
    """Where they add up first, as in plain data parallelism."""
    part = Part("a", after_backward=(Use(SCATTER, when="last"),))
    assert len(stream(made(part, micro_batches=3), "data")) == 1
    part = Part("a", after_backward=(Use(SCATTER),))
    assert len(stream(made(part, micro_batches=3), "data")) == 3


def test_early_gathers_start_with_the_step() -> None:
    """All of them, in order, whatever the others wait for."""
    parts = [
        Part(name, 4.0, before_forward=(Use(GATHER, when="first", early=True),))
        for name in "abc"
    ]
    todo = made(*parts, micro_batches=2)
    events = run(todo, free(todo, 1.0))
    assert [e.start for e in events if e.task.stream == "data"] == [0, 1, 2]


def test_computing_waits_for_the_calls_in_its_path() -> None:
    """One after the other, and over the turn from forward to backward."""
    part = Part("a", 1.0, 1.0, in_forward=(Use(GATHER), Use(SCATTER)))
    todo = made(part)
    events = run(todo, free(todo, 2.0))
    assert [(e.start, e.end) for e in events] == [(0, 1), (1, 3), (3, 5), (5, 6), (6, 6)]


def test_the_optimizer_waits_for_all() -> None:
    """Gradients too, of which nobody else hears."""
    part = Part("a", 1.0, 1.0, after_backward=(Use(SCATTER),))
    todo = made(part, optimizer=3.0)
    events = run(todo, free(todo, 5.0))
    assert (events[-1].start, events[-1].end) == (7, 10)


def test_tasks_wait_for_earlier_ones_only() -> None:
    """So the list is in an order in which it can be issued."""
    todo = made(Part("a", before_forward=(Use(GATHER),)), stages=4, micro_batches=6)
    assert all(other < number for number, t in enumerate(todo) for other in t.after)
