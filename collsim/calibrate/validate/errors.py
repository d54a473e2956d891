"""How far predictions are off."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.measurements import Measurement

__all__ = ["Errors", "errors", "ratios"]


@dataclass(frozen=True)
class Errors:
    """Distribution over rows of the absolute value of predicted / measured - 1.

    Parameters
    ----------
    median, p90 : float
        Its median and its 90th percentile.
    n : int
        Rows.
    """

    median: float
    p90: float
    n: int


def ratios(
    predicted: Sequence[float] | NDArray[np.float64], rows: Sequence[Measurement]
) -> NDArray[np.float64]:
    """Return predicted / measured of rows.

    Examples
    --------
    >>> ratios([1.5e-6], [Measurement("broadcast", 2, 8, 1e-6)]).round(9).tolist()
    [1.5]
    """
    measured = np.array([row.seconds for row in rows], float)
    found: NDArray[np.float64] = np.asarray(predicted, float) / measured
    return found


def errors(ratio: NDArray[np.float64]) -> Errors | None:
    """Return the errors of predicted / measured; None without rows.

    Examples
    --------
    >>> errors(np.array([0.9, 1.0, 1.2])).n
    3
    """
    if not ratio.size:
        return None
    off = np.abs(ratio - 1.0)
    return Errors(float(np.median(off)), float(np.quantile(off, 0.9)), off.size)
