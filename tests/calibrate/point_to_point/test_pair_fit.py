"""Two parameters of messages between pairs, with intervals, and what messages at once add."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from collsim.calibrate.point_to_point.pair_fit import two_parameters, what_further_add

SIZES = np.array([4.0**k for k in range(2, 13)])
DESIGN = np.stack([np.ones_like(SIZES), SIZES], axis=1)
ALPHA, BETA = 2e-5, 2e-10


def noisy(seed: int = 0) -> NDArray[np.float64]:
    """Return times that scatter by 5 %."""
    chance = np.random.default_rng(seed)
    times: NDArray[np.float64] = (ALPHA + BETA * SIZES) * np.exp(
        0.05 * chance.standard_normal(SIZES.size)
    )
    return times


@pytest.mark.parametrize("count", [3, 4, 11])
def test_intervals_are_those_of_the_logarithm(count: int) -> None:
    """Student's t on what is left over, by the derivatives of log(predicted / measured)."""
    from scipy.stats import t

    some = np.linspace(0, SIZES.size - 1, count).astype(int)
    design, seconds = DESIGN[some], noisy()[some]
    alpha, beta = two_parameters(design, seconds, ("s", "s/B"))
    found = np.array([alpha.value, beta.value])
    predicted = design @ found
    off = np.log(predicted / seconds)
    slopes = design / predicted[:, None]
    covariance = np.linalg.inv(slopes.T @ slopes) * (off @ off) / (count - 2)
    widths = t.ppf(0.975, count - 2) * np.sqrt(np.diag(covariance))
    for one, width in zip((alpha, beta), widths, strict=True):
        assert one.low == pytest.approx(max(0.0, one.value - width), rel=1e-4)
        assert one.high == pytest.approx(one.value + width, rel=1e-4)
    assert (alpha.unit, beta.unit) == ("s", "s/B")


def test_two_rows_have_no_interval() -> None:
    """They are met exactly."""
    alpha, beta = two_parameters(DESIGN[[0, -1]], noisy()[[0, -1]], ("s", "s/B"))
    assert (alpha.low, alpha.high, beta.low, beta.high) == (None,) * 4
    assert DESIGN[[0, -1]] @ [alpha.value, beta.value] == pytest.approx(noisy()[[0, -1]])


def test_half_the_time_is_as_far_off_as_twice() -> None:
    """By ratios: of one twice and one half of the line, the line is the best."""
    seconds = ALPHA + BETA * SIZES
    seconds[4] *= 2
    seconds[5] /= 2
    small = two_parameters(DESIGN[:8], seconds[:8], ("s", "s/B"))[0]
    assert small.value == pytest.approx(ALPHA, rel=0.05)


@pytest.mark.parametrize("lanes", [1, 2, 3, 4])
def test_turns_beyond_the_lanes_add(lanes: int) -> None:
    """ceil(k / lanes) - 1 times what one message that waits adds."""
    busy, shared = 0.25 * ALPHA, 0.5 * BETA
    at_once = [2, 3, 4, 5, 8] * SIZES.size
    sizes = np.repeat(SIZES, 5)
    base = ALPHA + BETA * sizes
    turns = np.array([-(-k // lanes) - 1 for k in at_once])
    measured = base + turns * (busy + shared * sizes)
    found = what_further_add(at_once, sizes, measured, base, (ALPHA, BETA), lanes)
    assert found.busy.value == pytest.approx(busy, rel=1e-4)
    assert found.shared.value == pytest.approx(shared, rel=1e-4)
    assert (found.lanes, found.busy.unit, found.shared.unit) == (lanes, "s", "s/B")
    assert found.residual < 1e-6
    other = what_further_add(at_once, sizes, 2 * measured, base, (ALPHA, BETA), lanes)
    assert other.residual == pytest.approx(
        np.linalg.norm(
            np.log(
                (base + turns * (other.busy.value + other.shared.value * sizes))
                / (2 * measured)
            )
        )
    )


@pytest.mark.parametrize(("factor", "end"), [(-0.2, 0.0), (1.5, 1.0)])
def test_ends_of_the_interval_are_meant_exactly(factor: float, end: float) -> None:
    """Two at once are faster than one, or take more than twice as long."""
    at_once, base = [2] * SIZES.size, ALPHA + BETA * SIZES
    found = what_further_add(at_once, SIZES, base + factor * base, base, (ALPHA, BETA), 1)
    assert (found.busy.value, found.shared.value) == (end * ALPHA, end * BETA)
