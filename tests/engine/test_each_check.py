"""Each check of a schedule finds what is wrong when the others look away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import Schedule
from collsim.engine import verdict
from collsim.engine.execute import execute
from collsim.engine.reference import reference
from collsim.engine.replay import replay
from collsim.engine.verdict import Verdict, verify_schedule
from collsim.errors import InputError


def made(name: str, ranks: int, author: Callable[[Builder], None], parts: int = 1) -> Schedule:
    """Return the schedule that a function lists."""
    b = Builder(collective(name), ranks, parts=parts)
    author(b)
    return b.finish()


def twice(b: Builder) -> None:
    """Count the contribution of rank 2 twice, and hand the sum to all."""
    b.reduce(2, 1, b.pieces[0])
    b.reduce(2, 0, b.pieces[0])
    b.reduce(1, 0, b.pieces[0])
    b.copy(0, 1, b.pieces[0])
    b.copy(0, 2, b.pieces[0])


def test_real_numbers_find_what_a_replay_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that is counted twice; the rank and both results are named."""
    monkeypatch.setattr(verdict, "replay", lambda schedule, order: None)
    wrong = verify_schedule(made("all_reduce", 3, twice))
    assert not wrong.ok
    assert wrong.reason.startswith("sum of 9 elements: rank 0 gets [")
    assert "], expected [" in wrong.reason


def test_the_largest_is_looked_for_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of fewer elements than ranks: some shares are empty."""
    tried: list[tuple[str, list[int]]] = []

    def watched(schedule: Schedule, inputs: list[Any], op: str, order: Any) -> Any:
        tried.append((op, [data.size for data in inputs]))
        found = execute(schedule, inputs, op, order)
        if op == "max":
            found[3] = found[3] + 1  # type: ignore[operator]
        return found

    monkeypatch.setattr(verdict, "execute", watched)
    wrong = verify_schedule(build("all_reduce", "ring", 4))
    assert wrong.reason.startswith("max of 3 elements: rank 3 gets [")
    assert tried == [("sum", [11] * 4), ("max", [3] * 4)]


@pytest.mark.parametrize("rank", [0, 2])
def test_outputs_that_are_missing_or_too_many_are_found(
    rank: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the root of a reduce has one."""

    def damaged(*given: Any) -> Any:
        found = execute(*given)
        found[rank] = None if found[rank] is not None else np.zeros(9, dtype=int)
        return found

    monkeypatch.setattr(verdict, "execute", damaged)
    wrong = verify_schedule(build("reduce", "mst", 3))
    got = "None" if rank == 0 else "[0 0 0 0 0 0 0 0 0]"
    assert wrong.reason.startswith(f"sum of 9 elements: rank {rank} gets {got}, expected ")


def test_both_networks_are_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the even one, then on the uneven one; the second's order is that of real numbers."""
    orders: list[list[int]] = []

    def watched(schedule: Schedule, order: Any) -> str | None:
        orders.append(list(order))
        return "wrong" if len(orders) == 4 else replay(schedule, order)

    executed: list[list[int]] = []

    def watched_numbers(schedule: Schedule, inputs: Any, op: str, order: Any) -> Any:
        executed.append(list(order))
        return execute(schedule, inputs, op, order)

    monkeypatch.setattr(verdict, "replay", watched)
    monkeypatch.setattr(verdict, "execute", watched_numbers)
    schedule = build("all_gather", "linear", 5)
    assert verify_schedule(schedule) == Verdict(True)
    assert orders[0] != orders[1]
    assert executed == [orders[1]] * 2
    # The second replay of another schedule is told to fail.
    assert verify_schedule(build("all_gather", "ring", 5)) == Verdict(False, "wrong")


def test_a_combination_names_both_blocks() -> None:
    """Rank 0's element of block 0 is added to what rank 2 has of block 1."""
    schedule = made(
        "reduce_scatter", 3, lambda b: b.reduce(0, 2, b.pieces[0], into=b.pieces[1])
    )
    assert replay(schedule, range(1)) == (
        "operation 0 (0 → 2) combines block 0 with block 1 in block 1 of rank 2"
    )


def test_one_missing_contribution_and_several() -> None:
    """In the singular, and in the plural."""
    one = made("reduce", 3, lambda b: b.reduce(1, 0, b.pieces[0]))
    assert (
        replay(one, range(1)) == "at the end rank 0 lacks the contribution of rank 2 in block 0"
    )
    none = made("reduce", 3, lambda b: None)
    assert replay(none, range(0)) == (
        "at the end rank 0 lacks the contributions of ranks 1, 2 in block 0"
    )


def test_elements_that_do_not_fit_are_not_combined() -> None:
    """Parts of 3 elements and of 2, and shares that gathering ranks bring."""
    wrong = made(
        "reduce", 2, lambda b: b.reduce(1, 0, b.pieces[0, :1], into=b.pieces[0, 1:]), 2
    )
    with pytest.raises(
        InputError,
        match=r"^operation 0 \(1 → 0\) combines 3 elements with 2 in block 0 part 1 of rank 0$",
    ):
        execute(wrong, [np.arange(5)] * 2, order=[0])


@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter", "all_reduce"])
def test_blocks_in_several_parts_come_out_in_order(kind: str) -> None:
    """Three ranks, blocks of five elements, cut in two for two channels."""
    schedule = build(kind, "ring", 3, channels=2)
    assert schedule.parts > 1
    count = 5 if kind == "all_gather" else 15
    inputs = [np.arange(count) + 100 * rank for rank in range(3)]
    got, want = execute(schedule, inputs), reference(kind, inputs)
    for one, other in zip(got, want, strict=True):
        assert one is not None
        assert other is not None
        assert one.tolist() == other.tolist()
