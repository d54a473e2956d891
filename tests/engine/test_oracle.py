"""The engine against a second, independent simulator, on random programs and clusters."""

from __future__ import annotations

import os
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from collsim.engine.simulate import Simulation

# So many cases of each kind; more at a desk by COLLSIM_ORACLE_CASES=5000.
CASES = int(os.environ.get("COLLSIM_ORACLE_CASES", "400"))
BATCH = 25
SEEDS = range(0, CASES, BATCH)


@pytest.mark.parametrize("first", SEEDS)
def test_equal_to_the_oracle_where_sums_are_exact(
    oracle: ModuleType, drawn: ModuleType, first: int
) -> None:
    """Every start and finish, to the last bit, with ties between messages."""
    for seed in range(first, first + BATCH):
        case = drawn.draw(oracle, seed, drawn.quarters)
        start, finish = oracle.timeline(
            case.messages, Fraction(case.cluster.gamma), Fraction(case.cluster.launch)
        )
        timeline = Simulation(case.schedule, case.cluster, compiled=False).run(case.nbytes)
        assert timeline.start.tolist() == start, f"seed {seed}"
        assert timeline.finish.tolist() == finish, f"seed {seed}"
        last = drawn.entered(case.cluster, *range(case.cluster.ranks)) + case.cluster.launch
        assert timeline.makespan == max([last, *finish])


@pytest.mark.parametrize("first", SEEDS)
def test_near_the_oracle_where_sums_are_rounded(
    oracle: ModuleType, drawn: ModuleType, first: int
) -> None:
    """Every start and finish to 1e-9, with numbers of any size."""
    for seed in range(first, first + BATCH):
        case = drawn.draw(oracle, seed, drawn.continuous)
        start, finish = oracle.timeline(
            case.messages, Fraction(case.cluster.gamma), Fraction(case.cluster.launch)
        )
        timeline = Simulation(case.schedule, case.cluster, compiled=False).run(case.nbytes)
        for found, right in ((timeline.start, start), (timeline.finish, finish)):
            expected = [float(time) for time in right]
            assert found.tolist() == pytest.approx(expected, rel=1e-9), f"seed {seed}"


@pytest.mark.parametrize("number", ["quarters", "continuous"])
def test_compiled_loop_is_equal_to_the_last_bit(
    oracle: ModuleType, drawn: ModuleType, number: str
) -> None:
    """The same events in the same order, with the same roundings and the same reasons."""
    for seed in range(CASES):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        plain, compiled = (
            Simulation(case.schedule, case.cluster, compiled=choice).loop.run(case.nbytes)
            for choice in (False, True)
        )
        for one, other in zip(plain, compiled, strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(other)), f"seed {seed}"


@pytest.mark.parametrize("number", ["quarters", "continuous"])
def test_parts_of_the_critical_path_are_the_whole(
    oracle: ModuleType, drawn: ModuleType, number: str
) -> None:
    """Alpha, beta, gamma, launch and waiting sum to the makespan, and none is negative."""
    for seed in range(CASES):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        timeline = Simulation(case.schedule, case.cluster, compiled=False).run(case.nbytes)
        b = timeline.breakdown
        parts = [b.alpha, b.beta, b.gamma, b.launch, b.waiting]
        assert sum(parts) == pytest.approx(timeline.makespan, rel=1e-9, abs=1e-12), seed
        assert min(parts) >= -1e-12, f"seed {seed}"
        assert b.launch == case.cluster.launch
        path = timeline.critical_path
        if path:
            assert path[0].start >= b.launch
            assert path[-1].finish == timeline.makespan
