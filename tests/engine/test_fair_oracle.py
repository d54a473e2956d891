"""Fair sharing against a second, independent simulator, on random programs and clusters."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from collsim.engine.simulate import Simulation, simulate

# So many cases of each kind; more at a desk by COLLSIM_ORACLE_CASES=5000.
CASES = int(os.environ.get("COLLSIM_ORACLE_CASES", "400"))
BATCH = 100
SEEDS = range(0, CASES, BATCH)
KINDS = ("quarters", "continuous")


def right_times(
    oracle: ModuleType, fair_oracle: ModuleType, messages: list[Any], cluster: Any
) -> list[list[float]]:
    """Return start and finish by the oracle."""
    found = fair_oracle.timeline(
        messages, oracle.waits(messages), Fraction(cluster.gamma), Fraction(cluster.launch)
    )
    return [[float(time) for time in column] for column in found]


def told_by_a_tie(
    oracle: ModuleType,
    fair_oracle: ModuleType,
    messages: list[Any],
    cluster: Any,
    found: Sequence[Sequence[float]],
) -> bool:
    """Return whether these times come out where start-ups are longer by some 1e-12.

    Ends of flows are rounded to the grid: of several that end at the same time on paper one may
    be seen before the others, and be added up first.
    """
    for seed in range(60):
        rng = random.Random(seed)
        parted = []
        for message in messages:
            ways = list(message.ways)
            if ways:
                more = Fraction(rng.randrange(8), 2**42)
                ways[0] = replace(ways[0], alpha=ways[0].alpha + more)
            parted.append(replace(message, ways=tuple(ways)))
        right = right_times(oracle, fair_oracle, parted, cluster)
        if all(
            np.allclose(one, other, rtol=1e-9) for one, other in zip(found, right, strict=True)
        ):
            return True
    return False


@pytest.mark.parametrize("number", KINDS)
@pytest.mark.parametrize("first", SEEDS)
def test_equal_to_the_oracle(
    oracle: ModuleType, fair_oracle: ModuleType, drawn: ModuleType, first: int, number: str
) -> None:
    """Every start and finish to 1e-9; with quarters, ties between messages are frequent."""
    for seed in range(first, first + BATCH):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        cluster = replace(case.cluster, sharing="fair")
        timeline = Simulation(case.schedule, cluster, compiled=False).run(case.nbytes)
        right = right_times(oracle, fair_oracle, case.messages, cluster)
        for found, times in zip((timeline.start, timeline.finish), right, strict=True):
            assert found.tolist() == pytest.approx(times, rel=1e-9), f"seed {seed}"


@pytest.mark.parametrize("number", KINDS)
@pytest.mark.parametrize("first", SEEDS[: len(SEEDS) // 4 or 1])
def test_jobs_together_too(
    oracle: ModuleType, fair_oracle: ModuleType, drawn: ModuleType, first: int, number: str
) -> None:
    """Two or three at once, of any sizes, ranks and starts; seldom other times at a tie."""
    parted = 0
    for seed in range(first, first + BATCH):
        several = drawn.draw_several(oracle, seed, getattr(drawn, number))
        cluster = replace(several.cluster, sharing="fair")
        found = drawn.on_one_clock(several, simulate(several.jobs, cluster))
        right = right_times(oracle, fair_oracle, several.messages, cluster)
        if found != [pytest.approx(times, rel=1e-9) for times in right]:
            parted += 1
            told = told_by_a_tie(oracle, fair_oracle, several.messages, cluster, found)
            assert told, f"seed {seed}"
    assert parted <= 1


def test_flows_do_share(oracle: ModuleType, fair_oracle: ModuleType, drawn: ModuleType) -> None:
    """Of 100 cases a third ends otherwise where no link has a limit."""
    shared = 0
    for seed in range(100):
        case = drawn.draw(oracle, seed, drawn.quarters)
        free = [
            replace(m, ways=tuple(replace(way, lanes=0) for way in m.ways))
            for m in case.messages
        ]
        both = [
            right_times(oracle, fair_oracle, messages, case.cluster)
            for messages in (case.messages, free)
        ]
        shared += both[0] != both[1]
    assert shared > 33


@pytest.mark.parametrize("number", KINDS)
def test_compiled_loop_is_equal_to_the_last_bit(
    oracle: ModuleType, drawn: ModuleType, number: str
) -> None:
    """Times and the log of rates: it is one source."""
    for seed in range(CASES // 2):
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
    for seed in range(CASES // 2):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        cluster = replace(case.cluster, sharing="fair")
        timeline = Simulation(case.schedule, cluster, compiled=False).run(case.nbytes)
        b = timeline.breakdown
        parts = [b.alpha, b.beta, b.gamma, b.launch, b.waiting]
        assert sum(parts) == pytest.approx(timeline.makespan, rel=1e-9, abs=1e-12), seed
        assert min(parts) >= -1e-12, f"seed {seed}"
        if timeline.critical_path:
            assert timeline.critical_path[-1].finish == timeline.makespan
