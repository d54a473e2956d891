"""A baseline: the least of three lines, which is all that an interpolation knows."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.measurements import Measurement

__all__ = ["three_lines"]

FloatArray = NDArray[np.float64]
_NOISE: Final = 0.03
_KNEE: Final = 1.5
_LEAST_ROWS: Final = 2


def three_lines(fit: Sequence[Measurement], hold: Sequence[Measurement]) -> FloatArray:
    """Return the seconds that the least of three fitted lines predicts.

    Where each series (collective, ranks, nodes, what was forced) of the rows to predict was
    fitted too, it has three lines ``a + b n`` of its own. Else all series of one algorithm and
    protocol share three, of steps and of the bytes that a rank sends in a ring:
    ``launch + min_k (e_k + steps a_k + bytes b_k)``.

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
    model = _apart if apart else _tied
    found = np.full(len(hold), np.nan)
    for one in {key(row) for row in hold}:
        known = [row for row in fit if key(row) == one]
        places = [i for i, row in enumerate(hold) if key(row) == one]
        if len(known) >= _LEAST_ROWS:
            found[places] = model(known, [hold[i] for i in places])
    return found


def _series(row: Measurement) -> object:
    return row.collective, row.ranks, row.nodes, row.algorithm, row.protocol


def _forced(row: Measurement) -> object:
    return row.algorithm, row.protocol


def _apart(fit: Sequence[Measurement], hold: Sequence[Measurement]) -> FloatArray:
    first, last = fit[0], fit[-1]
    least, slope = first.seconds, last.seconds / last.nbytes
    sizes, held = (np.array([row.nbytes for row in rows], float) for rows in (fit, hold))

    def times(x: FloatArray, n: FloatArray) -> FloatArray:
        lines = np.exp(x).reshape(3, 2)
        return np.min([a + b * n for a, b in lines], axis=0)  # type: ignore[no-any-return]

    starts = [
        np.log([least, slope * steep, least * up, slope * less, least * far, slope])
        for steep, up, less, far in ((20, 2, 4, 6), (8, 1.5, 2, 4))
    ]
    return times(_best(lambda x: times(x, sizes), fit, starts), held)


def _tied(fit: Sequence[Measurement], hold: Sequence[Measurement]) -> FloatArray:
    def times(x: FloatArray, counts: FloatArray) -> FloatArray:
        launch, lines = np.exp(x[0]), np.exp(x[1:]).reshape(3, 3)
        steps, sent = counts
        each = [extra + steps * a + sent * b for extra, a, b in lines]
        return launch + np.min(each, axis=0)  # type: ignore[no-any-return]

    start = np.log([5e-6, 1e-7, 1e-6, 1e-11, 5e-6, 2e-6, 4e-12, 1e-5, 4e-6, 3e-12])
    seen, held = _counts(fit), _counts(hold)
    x = _best(lambda x: times(x, seen), fit, [start, start + 0.5, start - 0.5])
    return times(x, held)


def _counts(rows: Sequence[Measurement]) -> FloatArray:
    """Return steps of a ring, and bytes that a rank sends, per row."""
    passes = np.array([2.0 if row.collective == "all_reduce" else 1.0 for row in rows])
    whole = np.array([row.collective in ("broadcast", "reduce", "sendrecv") for row in rows])
    ranks = np.array([float(row.ranks) for row in rows])
    sizes = np.array([float(row.nbytes) for row in rows])
    steps = passes * (ranks - 1)
    return np.array([steps, np.where(whole, sizes, steps * sizes / ranks)])


def _best(
    times: Callable[[FloatArray], FloatArray],
    rows: Sequence[Measurement],
    starts: Sequence[FloatArray],
) -> FloatArray:
    """Return the logarithms of the parameters with the least robust relative error."""
    from scipy.optimize import least_squares

    seen = np.log([row.seconds for row in rows])

    def off(x: FloatArray) -> FloatArray:
        return (np.log(times(np.clip(x, -60.0, 20.0))) - seen) / _NOISE

    found = [least_squares(off, x, loss="soft_l1", f_scale=_KNEE, max_nfev=300) for x in starts]
    best = min(found, key=lambda one: float(one.cost))
    x: FloatArray = np.clip(np.asarray(best.x, float), -60.0, 20.0)
    return x
