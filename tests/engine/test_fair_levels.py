"""Rates that are filled in again from where something changes are those of a whole filling."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.schedule import Schedule
from collsim.engine import fair_kernel
from collsim.engine.simulate import Simulation


def crowd(flows: int, ranks: int, seed: int) -> Schedule:
    """Return messages between random pairs, of random sizes; none waits for another."""
    draw = np.random.default_rng(seed)
    b = Builder(collective("all_gather"), ranks)
    for src, away, pieces in zip(
        draw.integers(0, ranks, flows).tolist(),
        draw.integers(1, ranks, flows).tolist(),
        draw.integers(1, 13, flows).tolist(),
        strict=True,
    ):
        b.copy(src, (src + away) % ranks, np.arange(pieces), into=b.scratch(pieces))
    return b.finish()


def fat(**changes: Any) -> Cluster:
    """Return four nodes of a fat tree whose links are shared fairly."""
    cluster = Cluster.load("dgx-h100-fat-tree-2to1", nodes=4)
    return replace(cluster, sharing="fair", **changes)


def times(schedule: Schedule, cluster: Cluster) -> tuple[list[float], list[float]]:
    """Return start and finish of every operation, by the plain loop."""
    start, finish, *_ = Simulation(schedule, cluster, compiled=False).loop.run(2**28)
    return list(start), list(finish)


@pytest.mark.parametrize("late", [False, True])
def test_keeping_the_order_changes_no_bit(monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    """Flows that begin at once, or one by one while others are under way."""
    schedule = crowd(300, 32, seed=1)
    cluster = fat(delay=np.linspace(0, 1e-3, 32)) if late else fat()
    monkeypatch.setattr(fair_kernel, "_MANY", 0)
    monkeypatch.setattr(fair_kernel, "_EVERY", 10**9)
    kept = times(schedule, cluster)
    monkeypatch.setattr(fair_kernel, "_MANY", 10**9)
    assert times(schedule, cluster) == kept


def test_keeping_the_order_changes_no_bit_of_random_programs(
    monkeypatch: pytest.MonkeyPatch, oracle: ModuleType, drawn: ModuleType
) -> None:
    """Lanes, late ranks, waits, and routes that share any links."""
    for seed in range(2000, 2150):
        case = drawn.draw(oracle, seed, drawn.continuous)
        cluster = replace(case.cluster, sharing="fair")
        found = []
        for many in (0, 10**9):
            monkeypatch.setattr(fair_kernel, "_MANY", many)
            monkeypatch.setattr(fair_kernel, "_EVERY", 10**9)
            found.append(times(case.schedule, cluster))
        assert found[0] == found[1], f"seed {seed}"


def test_few_flows_are_filled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: those that keep their rates are many more than those that get them anew."""
    refilled, present = [], []
    again = fair_kernel.again

    def counting(kept: bool, *rest: Any) -> tuple[int, int]:
        back, fixed = again(kept, *rest)
        refilled.append(fixed - back)
        present.append(fixed)
        return back, fixed

    monkeypatch.setattr(fair_kernel, "again", counting)
    times(crowd(300, 32, seed=1), fat())
    assert len(refilled) > 100
    assert 0 < 2 * sum(refilled) < sum(present)
