"""When tasks run: streams, what they wait for, and links that two of them want."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collsim.workload.clock import Cost, idle, run
from collsim.workload.parts import Call
from collsim.workload.steps import Task

A = Call("tensor", "all_reduce", 1.0, "a")
B = Call("data", "all_reduce", 1.0, "b")


def compute(seconds: float, *after: int, stage: int = 0) -> Task:
    """Return a task that computes."""
    return Task(stage, "compute", "layer", None, seconds, after)


def call(what: Call, *after: int, stage: int = 0) -> Task:
    """Return a task that calls."""
    return Task(stage, what.kind, what.what, what, 0.0, after)


def cost(seconds: float, *load: float) -> Cost:
    """Return a cost."""
    return Cost(seconds, np.array(load))


def test_streams_run_side_by_side_and_in_order() -> None:
    """Literally."""
    todo = [compute(2), call(B, 0), compute(2), call(B, 2), compute(1, 1)]
    events = run(todo, {B: cost(3, 0.0)})
    assert [(event.start, event.end) for event in events] == [
        (0, 2), (2, 5), (2, 4), (5, 8), (5, 6),
    ]  # fmt: skip


def test_two_that_fill_a_link_take_turns() -> None:
    """Three and one second of a full link take four; the first to end frees it."""
    todo = [call(A), call(B)]
    events = run(todo, {A: cost(1, 1.0, 0.0), B: cost(3, 1.0, 0.5)})
    assert [event.end for event in events] == [2, 4]


def test_two_on_different_links_do_not_meet() -> None:
    """Nor do two whose loads together fit."""
    todo = [call(A), call(B)]
    assert [e.end for e in run(todo, {A: cost(1, 1, 0), B: cost(3, 0, 1)})] == [1, 3]
    assert [e.end for e in run(todo, {A: cost(1, 0.4), B: cost(3, 0.6)})] == [1, 3]


def test_only_those_on_the_full_link_are_slowed_down() -> None:
    """A is on it with B; half of each second's work gets done while both run."""
    third = Call("expert", "all_to_all", 1.0, "c")
    todo = [call(A), call(B), call(third)]
    costs = {A: cost(1, 1, 0), B: cost(1, 1, 0), third: cost(1, 0, 1)}
    assert [event.end for event in run(todo, costs)] == [2, 2, 1]


def test_stages_do_not_slow_one_another_down() -> None:
    """What all groups of a kind do at once is in the cost already."""
    todo = [call(A), call(B, stage=1)]
    assert [e.end for e in run(todo, {A: cost(1, 1), B: cost(1, 1)})] == [1, 1]


def test_gaps_go_to_what_was_waited_for() -> None:
    """Of the gap of 4 s, B caused 3 and A, before it, 1 (its other second was hidden)."""
    todo = [compute(1), call(A), call(B, 1), compute(2, 2)]
    events = run(todo, {A: cost(2, 0), B: cost(3, 0)})
    exposed, elsewhere = idle(events, 0)
    assert (exposed, elsewhere) == ({B: 3, A: 1}, 0)


def test_gaps_of_other_stages_are_bubbles() -> None:
    """Waiting for what stage 1 computes; the message that brings it is stage 0's own."""
    send = Call("pipeline", "sendrecv", 1.0, "activations")
    todo = [compute(5, stage=1), call(send, 0), compute(1, 1)]
    exposed, elsewhere = idle(run(todo, {send: cost(2, 0)}), 0)
    assert (exposed, elsewhere) == ({send: 2}, 5)


def test_nothing_takes_no_time() -> None:
    """Calls and tasks of no time are done as they start."""
    todo = [compute(0), call(A, 0), compute(0, 1)]
    assert [event.end for event in run(todo, {A: cost(0, 0)})] == [0, 0, 0]


def test_the_same_list_gives_the_same_events() -> None:
    """To the bit, with ties."""
    todo = [call(A), call(B), compute(1), compute(1, 0, 1)]
    costs = {A: cost(1 / 3, 1), B: cost(1 / 3, 1)}
    assert run(todo, costs) == run(todo, costs)


@given(data=st.data())
@settings(max_examples=60)
def test_without_shared_links_a_step_is_a_longest_path(data: st.DataObject) -> None:
    """Each starts with the last of the one before it in its stream and all it waits for."""
    costs = {A: cost(0.75, 0.0), B: cost(2.0, 0.0)}
    todo: list[Task] = []
    for number in range(data.draw(st.integers(1, 12))):
        waits = data.draw(
            st.sets(st.integers(0, number - 1), max_size=2) if number else st.just(set())
        )
        kind = data.draw(st.sampled_from([None, A, B]))
        stage = data.draw(st.integers(0, 1))
        seconds = data.draw(st.sampled_from([0.0, 0.5, 1.25]))
        after = tuple(sorted(waits))
        todo.append(
            compute(seconds, *after, stage=stage)
            if kind is None
            else call(kind, *after, stage=stage)
        )
    ends: list[float] = []
    tails: dict[tuple[int, str], float] = {}
    for event in run(todo, costs):
        task = event.task
        key = task.stage, task.stream
        start = max([tails.get(key, 0.0), *(ends[other] for other in task.after)])
        lasts = task.seconds if task.call is None else costs[task.call].seconds
        assert (event.start, event.end) == (start, start + lasts)
        ends.append(event.end)
        tails[key] = event.end


@pytest.mark.parametrize("first", [0.1, 1.0, 7.0])
def test_work_is_conserved_on_a_full_link(first: float) -> None:
    """However their starts lie, the link is never free while somebody wants it."""
    todo = [compute(first), call(A, 0), call(B)]
    events = run(todo, {A: cost(2, 1), B: cost(5, 1)})
    last = max(event.end for event in events)
    assert last == pytest.approx(max(7.0, first + 2))
