"""Launch, alpha and beta of rows, with the chunk counts that go with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.fit.words import untold
from collsim.calibrate.formula import Chunks, chunks_of, terms_of
from collsim.calibrate.solve import Solution, solve, told_apart
from collsim.core.measurements import Measurement
from collsim.errors import InputError

__all__ = ["Estimate", "Values", "estimate", "expected"]

FloatArray = NDArray[np.float64]
Values = tuple[float, float, float]
"""Launch, alpha, beta."""

# Real logs settle within ten rounds.
_ROUNDS: Final = 50
_EQUAL: Final = 1e-11


@dataclass(frozen=True)
class Estimate:
    """What rows say about launch, alpha and beta.

    Parameters
    ----------
    values : tuple of float
        Launch, alpha, beta.
    solution : Solution
        Those that were fitted, with their half widths.
    with_launch : bool
        Whether launch was, or is 0 because the rows do not tell it from alpha.
    settled : bool
        Whether the chunk counts are the best for these very values.
    """

    values: Values
    solution: Solution
    with_launch: bool
    settled: bool = True


def estimate(rows: Sequence[Measurement], algorithm: str, chunks: Chunks) -> Estimate:
    """Fit launch, alpha and beta to rows by relative least squares.

    With free chunks the count at each size is the best one for the alpha and beta that
    are sought. So from one chunk everywhere, parameters and counts are found in turn,
    until the counts stay. That is Gauss and Newton's iteration: as the best count makes
    the time least, its derivative is that of the formula at this count. If it comes back
    to counts that it has seen, the values with the least squares are taken.

    Raises
    ------
    InputError
        If the rows cannot tell alpha from beta.

    Examples
    --------
    >>> rows = [Measurement("broadcast", 2, n, 3e-6 + n * 1e-9) for n in (8, 10**4, 10**6)]
    >>> launch, alpha, beta = estimate(rows, "ring", 1).values
    >>> launch, round(alpha, 9), round(beta, 12)
    (0.0, 3e-06, 1e-09)
    """
    seconds = np.array([row.seconds for row in rows])
    counts = [1 if chunks == "auto" else chunks] * len(rows)
    plain = _design(rows, algorithm, counts)
    # Counts that differ would tell launch from alpha, too, but only if the machine cut
    # its messages exactly as the model does.
    with_launch = told_apart(plain, seconds)
    columns = slice(0, 3) if with_launch else slice(1, 3)
    if not told_apart(plain[:, columns], seconds):
        raise InputError(untold(rows))
    tried: dict[tuple[int, ...], tuple[float, Estimate]] = {}
    for _ in range(_ROUNDS):
        whole = _design(rows, algorithm, counts)
        design = whole[:, columns]
        if not told_apart(design, seconds):
            break
        solution = solve(design, seconds)
        fitted = solution.values
        values = fitted if with_launch else (0.0, *fitted)
        found = Estimate((values[0], values[1], values[2]), solution, with_launch)
        better = _counts(rows, algorithm, chunks, found.values)
        now, then = (d @ np.array(values) for d in (whole, _design(rows, algorithm, better)))
        # Counts whose times are equal but for rounding are as good as the same.
        if np.allclose(now, then, rtol=_EQUAL, atol=0.0):
            return found
        off = then / seconds - 1.0
        tried[tuple(counts)] = float(off @ off), found
        counts = better
        if tuple(counts) in tried:
            break
    _, best = min(tried.values(), key=lambda pair: pair[0])
    return Estimate(best.values, best.solution, with_launch, settled=False)


def expected(
    rows: Sequence[Measurement], algorithm: str, chunks: Chunks, values: Values
) -> FloatArray:
    """Return the seconds that launch, alpha and beta predict for rows.

    Examples
    --------
    >>> row = Measurement("all_reduce", 2, 1000, 1.0)
    >>> expected([row], "ring", "auto", (1e-6, 2e-6, 1e-9)).round(9).tolist()
    [6e-06]
    """
    design = _design(rows, algorithm, _counts(rows, algorithm, chunks, values))
    found: FloatArray = design @ np.array(values)
    return found


def _counts(
    rows: Sequence[Measurement], algorithm: str, chunks: Chunks, values: Values
) -> list[int]:
    return [
        chunks_of(row.collective, algorithm, row.ranks, row.nbytes, values, chunks)
        for row in rows
    ]


def _design(rows: Sequence[Measurement], algorithm: str, counts: Sequence[int]) -> FloatArray:
    """Return seconds per launch, alpha and beta of each row."""
    design = np.empty((len(rows), 3))
    for i, (row, count) in enumerate(zip(rows, counts, strict=True)):
        terms = terms_of(row.collective, algorithm, row.ranks, count)
        design[i] = 1.0, terms.alphas, terms.betas * row.nbytes
    return design
