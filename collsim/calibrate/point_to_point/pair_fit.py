"""Fits of messages between pairs: by ratios, because sizes span six orders of magnitude."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.solve import solve
from collsim.core.profile import Parameter

__all__ = ["Further", "two_parameters", "what_further_add"]

FloatArray = NDArray[np.float64]


def two_parameters(
    design: FloatArray, seconds: FloatArray, units: tuple[str, str]
) -> tuple[Parameter, Parameter]:
    """Fit two parameters from 0 up by the least squares of the logarithm of the ratio.

    Times of messages bend where caches end, so no line fits them; relative least squares
    would then count a prediction of half the time less than one of twice.
    """
    from scipy.optimize import least_squares
    from scipy.special import stdtrit

    start = np.array(solve(design, seconds).values)
    scale = np.maximum(start, 1e-6 * np.median(seconds) / np.median(design, axis=0))

    def off(part: FloatArray) -> FloatArray:
        ratios: FloatArray = np.log((design @ (part * scale)) / seconds)
        return ratios

    fitted = least_squares(off, np.maximum(start / scale, 1e-3), bounds=(1e-9, np.inf))
    values = np.where(fitted.x < 1e-6, 0.0, fitted.x) * scale
    freedom = len(seconds) - 2
    widths: tuple[float | None, ...] = (None, None)
    if freedom > 0:
        covariance = np.linalg.pinv(fitted.jac.T @ fitted.jac) * 2 * fitted.cost / freedom
        width = float(stdtrit(freedom, 0.975)) * np.sqrt(np.diag(covariance)) * scale
        widths = (float(width[0]), float(width[1]))
    first, second = (
        Parameter(
            float(value),
            None if width is None else max(0.0, float(value) - width),
            None if width is None else float(value) + width,
            unit,
        )
        for value, width, unit in zip(values, widths, units, strict=True)
    )
    return first, second


@dataclass(frozen=True)
class Further:
    """What messages add that find all lanes taken, and how well that fits."""

    busy: Parameter
    shared: Parameter
    lanes: int
    residual: float


def what_further_add(
    at_once: Sequence[int],
    sizes: FloatArray,
    measured: FloatArray,
    base: FloatArray,
    alone: tuple[float, float],
    lanes: int,
) -> Further:
    """Fit what a message adds that finds all lanes taken, up to what one alone costs.

    Parameters
    ----------
    at_once : sequence of int
        Messages that were under way together, of every row.
    sizes, measured, base : float array
        Bytes of each, seconds that they took, and seconds of one alone.
    alone : (float, float)
        Alpha and beta of one alone.
    lanes : int
        Messages that need not wait.
    """
    from scipy.optimize import least_squares

    turns = np.array([float(-(-k // lanes) - 1) for k in at_once])
    design = np.stack([turns, turns * sizes], axis=1) / measured[:, None]
    single = base / measured
    # Bounds of one size each: alpha and n beta differ by many orders of magnitude.
    scale = np.maximum(alone, (1e-12, 1e-18))
    found = scale * least_squares(
        lambda part: np.log(single + design @ (part * scale)), (0.5, 0.5), bounds=(0.0, 1.0)
    ).x  # fmt: skip
    # Ends of the interval are only approached by the solver, and meant exactly.
    found = np.where(
        found < 1e-6 * scale, 0.0, np.where(found > 0.999999 * scale, scale, found)
    )
    return Further(
        Parameter(float(found[0]), None, None, "s"),
        Parameter(float(found[1]), None, None, "s/B"),
        lanes,
        float(np.linalg.norm(np.log(single + design @ found))),
    )
