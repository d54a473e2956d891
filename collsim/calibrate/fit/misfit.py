"""Whether one alpha and one beta describe the rows at all, in words."""

from collections.abc import Sequence
from statistics import median
from typing import Final

import numpy as np

from collsim.algorithms import algorithm_names
from collsim.calibrate.fit.estimate import estimate, expected
from collsim.core.measurements import Measurement
from collsim.core.profile import ErrorSummary
from collsim.errors import InputError
from collsim.units import format_bandwidth, format_size

__all__ = ["misfit_notes"]

# A fit whose error at the 90th percentile is above this has a note.
_POOR: Final = 0.25
_OTHERS: Final = ("mst", "ring")
_CLEARLY: Final = 0.5
_APART: Final = 1.5


def misfit_notes(
    rows: Sequence[Measurement],
    algorithm: str,
    errors: ErrorSummary,
    beta: float,
    fastest: tuple[str, float] | None,
) -> list[str]:
    """Return what is wrong with a fit as a whole, if anything is.

    Parameters
    ----------
    rows : sequence of Measurement
        What was fitted.
    algorithm : str
        By whose formula.
    errors : ErrorSummary
        Of held-out rows if there are any, else of the fitted ones.
    beta : float
        The fitted one.
    fastest : tuple of str and float, optional
        The fastest link there is, and its bandwidth.

    Examples
    --------
    >>> rows = [Measurement("all_reduce", 8, n, 1e-5) for n in (8, 64)]
    >>> fine = ErrorSummary("in_sample", 0.01, 0.02, 2)
    >>> misfit_notes(rows, "ring", fine, 2e-12, ("nvlink4", 450e9))
    ['1/beta is 500GB/s, above the fastest link of the presets (nvlink4, 450GB/s): the rows
    are probably not of ring']
    """
    notes = []
    if errors.p90 > _POOR:
        sizes = sorted({row.nbytes for row in rows})
        span = f"{format_size(sizes[0])} to {format_size(sizes[-1])}"
        missed = (
            f"one alpha and one beta of {algorithm} miss the times from {span} by "
            f"{errors.median:.0%} in the median and {errors.p90:.0%} at the 90th percentile"
        )
        apart = _apart(rows)
        if apart > _APART:
            notes.append(
                f"{missed}: rows of the same size are {apart:.3g} times apart in the median; "
                "are they of one system and one run?"
            )
        else:
            notes.append(
                f"{missed}: small and large sizes probably ran different algorithms or "
                "protocols; fit a range of sizes with --where"
            )
            notes += _better(rows, algorithm)
    if fastest is not None and beta > 0 and 1.0 / beta > fastest[1]:
        notes.append(
            f"1/beta is {format_bandwidth(1.0 / beta)}, above the fastest link of the presets "
            f"({fastest[0]}, {format_bandwidth(fastest[1])}): the rows are probably not of "
            f"{algorithm}"
        )
    return notes


def _apart(rows: Sequence[Measurement]) -> float:
    """Return how many times as long the slowest row of a size takes as the fastest."""
    same: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        key = row.collective, row.ranks, row.nodes, row.in_place, row.nbytes
        same.setdefault(key, []).append(row.seconds)
    return median([max(times) / min(times) for times in same.values()])


def _better(rows: Sequence[Measurement], algorithm: str) -> list[str]:
    """Say whether the formula of another algorithm halves the squares that are left."""
    known = set(_OTHERS).intersection(*(algorithm_names(r.collective) for r in rows))
    own = _misfit(rows, algorithm)
    for other in _OTHERS:
        if other in known and other != algorithm:
            found = _misfit(rows, other)
            if own is not None and found is not None and found < _CLEARLY * own:
                return [f"the formula of {other} fits these rows clearly better"]
    return []


def _misfit(rows: Sequence[Measurement], algorithm: str) -> float | None:
    """Return the mean square of predicted / measured - 1, each fitted with free chunks."""
    try:
        values = estimate(rows, algorithm, "auto").values
    except InputError:
        return None
    seconds = np.array([row.seconds for row in rows])
    off = expected(rows, algorithm, "auto", values) / seconds - 1.0
    return float(off @ off) / len(rows)
