"""Relative least squares for parameters that cannot be negative."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Solution", "solve", "told_apart"]

FloatArray = NDArray[np.float64]

# Distinct rank counts or sizes give condition numbers below 1e3; columns that
# differ only by rounding give 1e15.
_CONDITION = 1e6
_CONFIDENCE = 0.95
# Rounding leaves less where 0 is meant; no time, or time per byte, is so short.
_LEAST = 1e-30


@dataclass(frozen=True)
class Solution:
    """Parameters and the half widths of their 95 % intervals.

    Parameters
    ----------
    values : tuple of float
        One per column.
    half_widths : tuple of float, optional
        None where there are no more rows than parameters.
    """

    values: tuple[float, ...]
    half_widths: tuple[float, ...] | None


def told_apart(design: FloatArray, seconds: FloatArray) -> bool:
    """Return whether the rows determine every column's parameter.

    Parameters
    ----------
    design : float array, shape (rows, columns)
        Seconds of each row per unit of each parameter.
    seconds : float array, shape (rows,)
        Measured times, all positive.

    Examples
    --------
    >>> sizes = np.array([[14.0, 1.0], [14.0, 2.0]])
    >>> told_apart(sizes, np.ones(2)), told_apart(sizes[:, [0, 0]], np.ones(2))
    (True, False)
    """
    rows, columns = design.shape
    if rows < columns:
        return False
    scaled, norms = _scale(design, seconds)
    if not np.all(norms > 0):
        return False
    return bool(np.linalg.cond(scaled) < _CONDITION)


def solve(design: FloatArray, seconds: FloatArray) -> Solution:
    """Return the parameters x >= 0 with the least squares of (design x) / seconds - 1.

    Residuals are relative, so that a row of 10 us counts as much as one of 10 ms. The
    interval is the linear one, from the Jacobian and Student's t distribution; it
    describes scatter about the model, not how well the model's form fits.

    Examples
    --------
    >>> design = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 3.0]])
    >>> solution = solve(design, np.array([2.0, 3.0, 5.0]))
    >>> [round(value, 9) for value in solution.values]
    [2.0, 1.0]
    """
    from scipy.optimize import nnls
    from scipy.special import stdtrit

    scaled, norms = _scale(design, seconds)
    found, residual = nnls(scaled, np.ones(len(seconds)))
    values = tuple(float(value) if value >= _LEAST else 0.0 for value in found / norms)
    freedom = len(seconds) - design.shape[1]
    if freedom < 1:
        return Solution(values, None)
    covariance = np.linalg.inv(scaled.T @ scaled) * residual**2 / freedom
    quantile = float(stdtrit(freedom, 0.5 + _CONFIDENCE / 2))
    widths = quantile * np.sqrt(np.diag(covariance)) / norms
    return Solution(values, tuple(float(width) for width in widths))


def _scale(design: FloatArray, seconds: FloatArray) -> tuple[FloatArray, FloatArray]:
    relative = design / seconds[:, None]
    norms = np.sqrt((relative**2).sum(axis=0))
    return relative / np.where(norms > 0, norms, 1.0), norms
