"""A baseline: the least of three lines, which is all that an interpolation knows."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.measurements import Measurement

__all__ = ["three_lines"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
_NOISE: Final = 0.03
_KNEE: Final = 1.5
_LINES: Final = 3
_LEAST_ROWS: Final = 2
_STARTS: Final = 8
_TURNS: Final = 200
_STILL: Final = 1e-12
_RIDGE: Final = 1e-5
_ALIKE: Final = 1e-6


def three_lines(fit: Sequence[Measurement], hold: Sequence[Measurement]) -> FloatArray:
    """Return the seconds that the least of three fitted lines predicts.

    Where each series (collective, ranks, nodes, what was forced) of the rows to predict was
    fitted too, it has three lines ``a + b n`` of its own. Else all series of one algorithm and
    protocol share three, of steps and of the bytes that a rank sends in a ring:
    ``min_k (e_k + steps a_k + bytes b_k)``. No number of a line is negative.

    Notes
    -----
    Rows are given to lines, each line is fitted to its rows by non-negative least squares of
    the relative errors, weighed so that a far row pulls less, and each row goes to the line
    that is least there, until nothing changes: the least-squares partition algorithm of A.
    Magnani and S. Boyd, "Convex piecewise-linear fitting", Optimization and Engineering 10
    (2009), for a concave function. It begins from several partitions by size, and the best end
    is kept. Each step has an exact answer, so that the lines are the same with every release of
    scipy; a general least squares over all their numbers stopped at its limit of evaluations,
    with larger errors on the rows that were fitted.

    Examples
    --------
    >>> rows = [Measurement("broadcast", 4, 2**k, 1e-5 + 2**k * 1e-9) for k in range(0, 24, 2)]
    >>> found = three_lines(rows, [Measurement("broadcast", 4, 2**15, 1.0)])
    >>> round(found[0] * 1e6), round(1e6 * (1e-5 + 2**15 * 1e-9))
    (43, 43)
    """
    seen = {_series(row) for row in fit}
    apart = all(_series(row) in seen for row in hold)
    key: Callable[[Measurement], object] = _series if apart else _forced
    terms = _size if apart else _counts
    found = np.full(len(hold), np.nan)
    for one in {key(row) for row in hold}:
        known = [row for row in fit if key(row) == one]
        places = [i for i, row in enumerate(hold) if key(row) == one]
        if len(known) >= _LEAST_ROWS:
            lines = _fitted(terms(known), np.array([row.seconds for row in known]))
            found[places] = (terms([hold[i] for i in places]) @ lines).min(axis=1)
    return found


def _series(row: Measurement) -> object:
    return row.collective, row.ranks, row.nodes, row.algorithm, row.protocol


def _forced(row: Measurement) -> object:
    return row.algorithm, row.protocol


def _size(rows: Sequence[Measurement]) -> FloatArray:
    """Return 1 and the bytes, per row."""
    return np.array([[1.0, float(row.nbytes)] for row in rows])


def _counts(rows: Sequence[Measurement]) -> FloatArray:
    """Return 1, the steps of a ring, and the bytes that a rank sends, per row."""
    passes = np.array([2.0 if row.collective == "all_reduce" else 1.0 for row in rows])
    whole = np.array([row.collective in ("broadcast", "reduce", "sendrecv") for row in rows])
    ranks = np.array([float(row.ranks) for row in rows])
    sizes = np.array([float(row.nbytes) for row in rows])
    steps = passes * (ranks - 1)
    sent = np.where(whole, sizes, steps * sizes / ranks)
    return np.column_stack([np.ones(len(rows)), steps, sent])


def _fitted(terms: FloatArray, seconds: FloatArray) -> FloatArray:
    """Return the lines, a column each, whose least has the least robust relative error."""
    shares = terms / seconds[:, None]
    # Unit columns, as a byte's part and a step's differ by 1e6.
    scale: FloatArray = np.linalg.norm(shares, axis=0)
    scale[scale == 0] = 1.0
    shares /= scale
    least, lines = np.inf, np.zeros((shares.shape[1], _LINES))
    for start in _partitions(terms[:, -1]):
        cost, found = _settled(shares, start)
        # Of ends that are as good, the first: which one rounding makes less is chance.
        if cost < least * (1 - _ALIKE):
            least, lines = cost, found
    return lines / scale[:, None]


def _partitions(nbytes: FloatArray) -> list[IntArray]:
    """Return ways to give rows to lines: small, middle and large, at other sizes each."""
    ranks = np.argsort(np.argsort(nbytes, kind="stable"), kind="stable")
    parts = ranks * _STARTS // len(nbytes)
    return [
        (parts >= low).astype(np.intp) + (parts >= high)
        for low, high in combinations(range(1, _STARTS), 2)
    ]


def _settled(shares: FloatArray, owner: IntArray) -> tuple[float, FloatArray]:
    """Return the least cost on the way from a partition, and its lines."""
    from scipy.optimize import nnls

    lines = np.zeros((shares.shape[1], _LINES))
    weights = np.ones(len(shares))
    # Series of one rank count do not tell a line's constant from its steps: half to each.
    ridge, nothing = _RIDGE * np.eye(len(lines)), np.zeros(len(lines))
    best, last = (np.inf, lines), np.inf
    for _ in range(_TURNS):
        for k in set(owner.tolist()):
            a, b = shares[owner == k], weights[owner == k]
            lines[:, k] = nnls(np.vstack([a * b[:, None], ridge]), np.append(b, nothing))[0]
        each = shares @ lines
        off = (each.min(axis=1) - 1) / _NOISE / _KNEE
        cost = float(np.sum(np.sqrt(1 + off**2) - 1))
        if cost < best[0] * (1 - _ALIKE):
            best = cost, lines.copy()
        if abs(last - cost) <= _STILL * last and (owner == each.argmin(axis=1)).all():
            break
        last, owner = cost, each.argmin(axis=1)
        weights = (1 + off**2) ** -0.25
    return best
