"""The engine against a second, independent simulator, on random programs and clusters."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from collsim.core import dependencies
from collsim.engine import lower
from collsim.engine.simulate import Simulation, simulate

# So many cases of each kind; more at a desk by COLLSIM_ORACLE_CASES=5000.
CASES = int(os.environ.get("COLLSIM_ORACLE_CASES", "400"))
BATCH = 100
SEEDS = range(0, CASES, BATCH)
KINDS = ("quarters", "continuous")


def right_times(oracle: ModuleType, messages: list[Any], cluster: Any) -> Any:
    """Return start and finish by the oracle."""
    return oracle.timeline(messages, Fraction(cluster.gamma), Fraction(cluster.launch))


def others_at_ties(
    oracle: ModuleType, messages: list[Any], cluster: Any
) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """Yield what comes out where costs are rounded: each is another one by some 1e-15.

    The engine rounds start-ups of whole routes, and times per byte. Equal ones stay equal, and
    so do sums of them. Sums of different ones that are equal on paper part, and another message
    may be the first of two.
    """
    for seed in range(100):

        def rounded(cost: Fraction, seed: int = seed) -> Fraction:
            if not cost:
                return cost
            return cost + Fraction(random.Random(f"{seed} {cost}").randrange(-8, 9), 2**53)

        parted = []
        for message in messages:
            ways = [replace(way, beta=rounded(way.beta)) for way in message.ways]
            if ways:
                whole = {
                    of: rounded(sum((getattr(way, of) for way in ways), Fraction(0)))
                    for of in ("alpha", "busy")
                }
                rest = [replace(way, alpha=Fraction(0), busy=Fraction(0)) for way in ways[1:]]
                ways = [replace(ways[0], **whole), *rest]
            parted.append(replace(message, ways=tuple(ways), entered=rounded(message.entered)))
        yield right_times(oracle, parted, cluster)


def near(found: list[Any], right: tuple[list[Fraction], list[Fraction]]) -> bool:
    """Return whether starts and finishes are those, to 1e-9."""
    return all(
        np.allclose(column, [float(time) for time in times], rtol=1e-9, atol=1e-12)
        for column, times in zip(found, right, strict=True)
    )


@pytest.mark.parametrize("first", SEEDS)
def test_equal_to_the_oracle_where_sums_are_exact(
    oracle: ModuleType, drawn: ModuleType, first: int
) -> None:
    """Every start and finish, to the last bit, with ties between messages."""
    for seed in range(first, first + BATCH):
        case = drawn.draw(oracle, seed, drawn.quarters)
        start, finish = right_times(oracle, case.messages, case.cluster)
        timeline = Simulation(case.schedule, case.cluster, compiled=False).run(case.nbytes)
        assert timeline.start.tolist() == start, f"seed {seed}"
        assert timeline.finish.tolist() == finish, f"seed {seed}"
        last = drawn.entered(case.cluster, *range(case.cluster.ranks)) + case.cluster.launch
        assert timeline.makespan == max([last, *finish])


@pytest.mark.parametrize("first", SEEDS)
def test_near_the_oracle_where_sums_are_rounded(
    oracle: ModuleType, drawn: ModuleType, first: int
) -> None:
    """Every start and finish to 1e-9, with numbers of any size; seldom another one at a tie."""
    parted = 0
    for seed in range(first, first + BATCH):
        case = drawn.draw(oracle, seed, drawn.continuous)
        timeline = Simulation(case.schedule, case.cluster, compiled=False).run(case.nbytes)
        found = [timeline.start, timeline.finish]
        if not near(found, right_times(oracle, case.messages, case.cluster)):
            parted += 1
            others = others_at_ties(oracle, case.messages, case.cluster)
            assert any(near(found, other) for other in others), f"seed {seed}"
    assert parted <= 1


@pytest.mark.parametrize("number", KINDS)
@pytest.mark.parametrize("first", SEEDS[: len(SEEDS) // 2 or 1])
def test_jobs_together_too(
    oracle: ModuleType, drawn: ModuleType, first: int, number: str
) -> None:
    """Two or three at once, each of its own size, ranks and start: exact in quarters."""
    parted = 0
    for seed in range(first, first + BATCH):
        several = drawn.draw_several(oracle, seed, getattr(drawn, number))
        found = drawn.on_one_clock(several, simulate(several.jobs, several.cluster))
        start, finish = right_times(oracle, several.messages, several.cluster)
        if number == "quarters":
            assert found == [start, finish], f"seed {seed}"
        elif not near(found, (start, finish)):
            parted += 1
            others = others_at_ties(oracle, several.messages, several.cluster)
            assert any(near(found, other) for other in others), f"seed {seed}"
    assert parted <= 1


@pytest.mark.parametrize("number", KINDS)
def test_nothing_is_left_out(
    oracle: ModuleType, drawn: ModuleType, features: ModuleType, number: str
) -> None:
    """Whatever a cluster or program may have occurs, and so do ties that change times."""
    alone: Counter[str] = Counter()
    together: Counter[str] = Counter()
    for seed in range(100):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        alone.update(features.of(oracle, case.messages, case.cluster))
        several = drawn.draw_several(oracle, seed, getattr(drawn, number))
        together.update(features.of(oracle, several.messages, several.cluster))
        together.update(features.of_jobs(several))
    assert features.ALONE - set(alone) == set()
    assert features.TOGETHER - set(together) == set()
    assert min(alone["a tie that the index decides"], together["jobs whose pieces differ"]) > 10


@pytest.mark.parametrize("number", KINDS)
def test_compiled_code_is_equal_to_the_last_bit(
    oracle: ModuleType, drawn: ModuleType, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same dependencies and routes, events, roundings and reasons."""
    cases = [drawn.draw(oracle, seed, getattr(drawn, number)) for seed in range(CASES // 2)]
    plain = [Simulation(case.schedule, case.cluster, compiled=False) for case in cases]
    for of, name in ((dependencies, "COMPILE_FROM"), (lower, "_LOADED_FROM")):
        monkeypatch.setattr(of, name, 0)
    monkeypatch.setattr(dependencies, "_LOADED_FROM", 0)
    for seed, (case, one) in enumerate(zip(cases, plain, strict=True)):
        again = drawn.draw(oracle, seed, getattr(drawn, number)).schedule
        other = Simulation(again, case.cluster, compiled=True)
        for pair in (
            (case.schedule.dep_ptr, again.dep_ptr),
            (case.schedule.dep, again.dep),
            (one.plan.route, other.plan.route),
            *zip(one.loop.run(case.nbytes), other.loop.run(case.nbytes), strict=True),
        ):
            assert np.array_equal(*map(np.asarray, pair)), f"seed {seed}"


@pytest.mark.parametrize("number", KINDS)
def test_parts_of_the_critical_path_are_the_whole(
    oracle: ModuleType, drawn: ModuleType, number: str
) -> None:
    """Alpha, beta, gamma, launch and waiting sum to the makespan, and none is negative."""
    for seed in range(CASES // 2):
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
