"""Fair sharing against a second, independent simulator, on random programs and clusters."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from collsim.engine.simulate import Simulation

# So many cases of each kind; more at a desk by COLLSIM_ORACLE_CASES=5000.
CASES = int(os.environ.get("COLLSIM_ORACLE_CASES", "400"))
BATCH = 25
KINDS = ("quarters", "continuous")


@pytest.mark.parametrize("number", KINDS)
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_equal_to_the_oracle(
    oracle: ModuleType, fair_oracle: ModuleType, drawn: ModuleType, first: int, number: str
) -> None:
    """Every start and finish to 1e-9; with quarters, ties between messages are frequent."""
    for seed in range(first, first + BATCH):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        schedule = case.schedule
        waits = [schedule.waits_for(j).tolist() for j in range(len(schedule))]
        start, finish = fair_oracle.timeline(
            case.messages, waits, Fraction(case.cluster.gamma), Fraction(case.cluster.launch)
        )
        cluster = replace(case.cluster, sharing="fair")
        timeline = Simulation(schedule, cluster, compiled=False).run(case.nbytes)
        for found, right in ((timeline.start, start), (timeline.finish, finish)):
            expected = [float(time) for time in right]
            assert found.tolist() == pytest.approx(expected, rel=1e-9), f"seed {seed}"


@pytest.mark.parametrize("number", KINDS)
def test_compiled_loop_is_equal_to_the_last_bit(
    oracle: ModuleType, drawn: ModuleType, number: str
) -> None:
    """Times and the log of rates: it is one source."""
    for seed in range(CASES):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        cluster = replace(case.cluster, sharing="fair")
        loops = [Simulation(case.schedule, cluster, compiled=c).loop for c in (False, True)]
        outcomes = [(*loop.run(case.nbytes), *loop.logged(case.nbytes)) for loop in loops]  # type: ignore[union-attr]
        for one, other in zip(*outcomes, strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(other)), f"seed {seed}"


@pytest.mark.parametrize("number", KINDS)
def test_parts_of_the_critical_path_are_the_whole(
    oracle: ModuleType, drawn: ModuleType, number: str
) -> None:
    """Alpha, beta, gamma, launch and waiting sum to the makespan, and none is negative."""
    for seed in range(CASES):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        cluster = replace(case.cluster, sharing="fair")
        timeline = Simulation(case.schedule, cluster, compiled=False).run(case.nbytes)
        b = timeline.breakdown
        parts = [b.alpha, b.beta, b.gamma, b.launch, b.waiting]
        assert sum(parts) == pytest.approx(timeline.makespan, rel=1e-9, abs=1e-12), seed
        assert min(parts) >= -1e-12, f"seed {seed}"
        if timeline.critical_path:
            assert timeline.critical_path[-1].finish == timeline.makespan
