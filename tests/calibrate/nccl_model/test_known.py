"""Logs that were made from known parameters give them back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from collsim.calibrate.nccl_model import Fitted, System, fit_nccl
from collsim.core.measurements import Measurement

Measure = Callable[..., list[Measurement]]
H100 = System("hopper", 12, 360.0, nvls=True)


def off(fitted: Fitted, truth: Fitted) -> list[float]:
    """Return how many sigma each parameter that the rows tell is from the truth."""
    told = set(fitted.values) - set(fitted.untold)
    return [
        abs(math.log(fitted.values[key] / truth.values[key])) / fitted.log_sigma[key]
        for key in sorted(told)
    ]


def errors(fitted: Fitted, rows: list[Measurement]) -> tuple[float, float]:
    """Return the median and the 90th percentile of relative errors."""
    ratio = fitted.predict(rows) / np.array([row.seconds for row in rows])
    return float(np.median(np.abs(ratio - 1))), float(np.quantile(np.abs(ratio - 1), 0.9))


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.03])
def test_known_parameters_come_back(measured: Measure, truth: Fitted, noise: float) -> None:
    """Each that is told within three stated sigma, nine of ten within two, and 20 are told."""
    fitted = fit_nccl(measured(noise), H100)
    found = off(fitted, truth)
    assert len(found) >= 20
    assert max(found) < 3
    assert np.mean(np.array(found) < 2) >= 0.9


def test_large_noise_tells_less_and_says_so(measured: Measure, truth: Fitted) -> None:
    """At 10 % of noise fewer parameters are told; times are still found to a few per cent."""
    quiet, loud = fit_nccl(measured(0.01), H100), fit_nccl(measured(0.1), H100)
    assert 0.07 < loud.noise < 0.13
    assert len(loud.untold) >= len(quiet.untold)
    assert errors(loud, measured())[1] < 0.08


def test_outliers_pull_little(measured: Measure) -> None:
    """One row in ten 3 to 10 times too slow moves the others' times by a per cent or so."""
    rng = np.random.default_rng(7)
    rows = [
        replace(row, seconds=row.seconds * float(rng.uniform(3, 10)) if hit else row.seconds)
        for row, hit in zip(measured(0.01), rng.random(189) < 0.1, strict=True)
    ]
    assert errors(fit_nccl(rows, H100), measured())[1] < 0.02


def test_missing_sizes_are_filled_in(measured: Measure) -> None:
    """From every third size the others follow."""
    rows = measured()
    fitted = fit_nccl(rows[::3], H100)
    assert errors(fitted, rows)[0] < 0.01


def test_eight_ranks_follow_from_two_and_four(measured: Measure) -> None:
    """Counts of steps and bytes carry over to other rank counts."""
    fitted = fit_nccl(measured(0.01, ranks=(2, 4)), H100)
    assert errors(fitted, measured(ranks=(8,)))[0] < 0.03


def test_a_collective_follows_from_the_others(measured: Measure) -> None:
    """reduce_scatter is as all_gather, but for what all_reduce tells of reducing."""
    fitted = fit_nccl(measured(0.01, collectives=("all_reduce", "all_gather")), H100)
    assert errors(fitted, measured(collectives=("reduce_scatter",)))[0] < 0.03


@pytest.mark.parametrize("count", [1, 2])
def test_few_rows_leave_most_as_believed(measured: Measure, count: int) -> None:
    """One or two rows are met, and most parameters are said not to be told."""
    rows = measured(collectives=("all_reduce",), ranks=(8,))[3 : 3 + count]
    fitted = fit_nccl(rows, H100)
    assert errors(fitted, rows)[1] < 0.03
    assert len(fitted.untold) > 0.8 * len(fitted.values)
    assert fitted.seconds("all_gather", 4, 1, 2**20) > 0


def test_equal_times_are_fitted(measured: Measure) -> None:
    """21 rows of 20 us, whatever the size: latency alone, to a few per cent."""
    rows = [
        replace(row, seconds=20e-6) for row in measured(collectives=("all_reduce",), ranks=(8,))
    ]
    assert errors(fit_nccl(rows, H100), rows)[1] < 0.1


def test_falling_times_are_far_off(measured: Measure) -> None:
    """Times that fall as sizes grow are off any such model by more than 30 %."""
    rows = measured(collectives=("all_reduce",), ranks=(8,))
    times = [row.seconds for row in rows][::-1]
    fallen = [replace(row, seconds=t) for row, t in zip(rows, times, strict=True)]
    assert fit_nccl(fallen, H100).noise > 0.3


def test_the_same_rows_give_the_same_bits(measured: Measure) -> None:
    """In any order."""
    rows = measured(0.03)
    one, other = fit_nccl(rows, H100), fit_nccl(rows[::-1], H100)
    assert one.values == other.values
    assert one.log_sigma == other.log_sigma
