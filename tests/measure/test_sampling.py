"""How often something is timed, and what comes of it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from collsim.errors import InputError
from collsim.measure.sampling import How, Sample, sample, summary


class Scripted:
    """A transport whose calls last what a script says."""

    one_clock, calls = True, 1

    def __init__(self, starts: list[list[float]], ends: list[list[float]]) -> None:
        self.starts, self.ends, self.at = starts, ends, 0

    def finish(self) -> None:
        """Do nothing."""

    def stamps(self, call: Any, repetitions: int, aligned: bool) -> Any:
        """Return nothing yet: `exchange` knows all ranks."""
        self.wanted = repetitions
        return np.zeros((repetitions, 2))

    def exchange(self, stamps: Any) -> Any:
        """Return the next part of the script, of all ranks."""
        part = slice(self.at, self.at + self.wanted)
        self.at += self.wanted
        pairs = zip(self.starts, self.ends, strict=True)
        return np.array([np.stack([s[part], e[part]], axis=1) for s, e in pairs])


def run(starts: list[list[float]], ends: list[list[float]], how: How, **more: Any) -> Sample:
    """Sample a script."""
    return sample(Scripted(starts, ends), lambda: None, how, **more)  # type: ignore[arg-type]


def test_a_repetition_begins_with_the_last_and_ends_with_the_last() -> None:
    """Rank 1 enters at 2 and rank 0 is done at 9: 7, of whatever either saw itself."""
    how = How(iterations=2)
    found = run([[0.0] * 2, [2.0] * 2], [[9.0] * 2, [8.0] * 2], how)
    assert found.median == 7.0
    apart = run([[0.0] * 2, [2.0] * 2], [[9.0] * 2, [8.0] * 2], how, aligned=False)
    assert apart.median == 9.0


def test_steady_times_need_few_repetitions() -> None:
    """As many as fill the time over which they are spread, and no more than five at least."""
    times = [[float(i) for i in range(500)]], [[i + 0.001 for i in range(500)]]
    assert 200 <= run(*times, How(budget=10.0)).repetitions <= 202
    slow = [[float(i) for i in range(100)]], [[i + 0.1 for i in range(100)]]
    assert run(*slow, How(budget=10.0)).repetitions == 5


def test_a_short_budget_is_not_outspent() -> None:
    """A fifth of it is enough for times that agree."""
    times = [[float(i) for i in range(500)]], [[i + 0.001 for i in range(500)]]
    assert 20 <= run(*times, How(budget=0.1)).repetitions <= 22


def test_what_begins_in_a_slow_phase_is_not_believed() -> None:
    """Five times of 20 ms that agree to a percent, and then it takes what it takes: 2 ms."""
    slow = [20e-3, 20.2e-3, 19.9e-3, 20.1e-3, 20e-3]
    fast = [2e-3 + 1e-5 * (i % 3) for i in range(5000)]
    found = run([[0.0] * 5005], [slow + fast], How())
    assert found.median == pytest.approx(2e-3, rel=0.01)
    assert found.relative_error <= 0.02


def test_phases_count_as_spread() -> None:
    """The same times shuffled are known several times as well as those that come in turns."""
    chance = np.random.default_rng(0)
    phases = np.array(([1e-3] * 100 + [1.5e-3] * 100) * 4) + 1e-3 * chance.random(800)
    mixed = chance.permutation(phases)
    assert summary(mixed).relative_error < 0.025
    assert summary(phases).relative_error > 0.05


def test_a_stamp_may_stand_for_several_calls() -> None:
    """A budget is of the time that all of them take."""
    script = Scripted([[0.0] * 20000], [[1e-4 * (1 + i % 2) for i in range(20000)]])
    script.calls = 20
    how = How(target=1e-9, budget=0.5)
    found = sample(script, lambda: None, how)  # type: ignore[arg-type]
    assert found.repetitions * 20 * 1.5e-4 <= 0.52


def test_unsteady_times_need_more() -> None:
    """Until the median is known to 2 %, or the budget is spent."""
    chance = np.random.default_rng(1)
    starts = [0.0] * 20000
    ends = (1e-3 + 2e-4 * chance.random(20000)).tolist()
    found = run([starts], [ends], How(budget=100.0))
    assert found.relative_error <= 0.02
    assert 5 < found.repetitions < 200
    assert run([starts], [ends], How(target=1e-9, budget=0.05)).repetitions <= 100


def test_exactly_as_many_as_were_asked_for() -> None:
    """As nccl-tests' -n, also in several batches."""
    assert run([[0.0] * 3000], [[1.0] * 3000], How(iterations=2500)).repetitions == 2500


def test_outliers_leave_median_and_spread_alone() -> None:
    """A tenth of the times a thousandfold."""
    times = np.array([1.0] * 90 + [1000.0] * 10)
    assert summary(times) == Sample(1.0, 1.0, 1.0, 100, 0.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"warmups": -1}, "warm-ups: got -1"),
        ({"iterations": 0}, "iterations: got 0"),
        ({"target": 0.0}, "target: got 0.0"),
        ({"budget": float("inf")}, "budget: got inf"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    """By its name and value."""
    with pytest.raises(InputError, match=message):
        How(**given)


def test_only_those_who_take_part_count(memory: ModuleType) -> None:
    """The others' stamps are no times."""

    def work(rank: Any) -> float:
        how = How(warmups=0, iterations=3)
        part = rank.rank == 0
        return sample(rank, lambda: None, how, aligned=False, takes_part=part).median

    found = memory.on_ranks(2, work)
    assert found[0] == found[1] >= 0
