"""Which of several curves is lowest, at every size, without trying every size.

Within a piece a curve is a straight line, rounded thrice to 32 bits. Two lines differ by a
straight line, and their rounding is at most a small share of their values: only near a
crossing can rounding decide, and there each 32-bit size is tried. Elsewhere one size speaks
for all. Lines of one slope are near each other for ever; but as their transfers are the same
float, they keep their order from one power of two of the transfer to the next.
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.nccl._time import Curve

__all__ = ["find_ranges"]

Int = NDArray[np.int64]
# Conversion, division and sum each round by at most 2**-24; this is more than all three.
_ROUND: Final = 4 * 2.0**-24
_AT_ONCE: Final = 1 << 20
# Wide windows above 1 TiB, more than a buffer can have, are tried at 2**12 sizes an octave.
_VAST: Final = 1 << 40
_COARSE: Final = 13


def find_ranges(curves: list[Curve], low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first size, last size, index of the lowest curve, the first of equals).

    Examples
    --------
    >>> slow = Curve("ring", "ll", (0,), (5.0,), (10.0,))
    >>> fast = Curve("ring", "simple", (0,), (10.0,), (20.0,))
    >>> list(find_ranges([slow, fast], 1, 1000))
    [(1, 100, 0), (101, 1000, 1)]
    """
    begun, winner = low, -1
    for start, best in _changes(curves, low, high):
        if best != winner:
            if winner >= 0:
                yield begun, start - 1, winner
            begun, winner = start, best
    yield begun, high, winner


def _changes(curves: list[Curve], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield sizes in order, each with the lowest curve from there to the next."""
    starts = sorted({low, *(s for line in curves for s in line.starts if low < s <= high)})
    for start, end in zip(starts, [*(s - 1 for s in starts[1:]), high], strict=True):
        at = start
        for first, last in _doubtful(curves, start, end):
            if at < first:
                yield at, _best(curves, at)
            yield from _each(curves, first, last)
            at = last + 1
        if at <= end:
            yield at, _best(curves, at)


def _best(curves: list[Curve], nbytes: int) -> int:
    times = [line.at(nbytes) for line in curves]
    return times.index(min(times))


def _doubtful(curves: list[Curve], start: int, end: int) -> list[tuple[int, int]]:
    """Return the sizes of one piece where rounding may decide, as intervals in order."""
    lines = []
    for line in curves:
        piece = line.piece(start)
        lines.append((line.latencies[piece] * line.factor, line.factor / line.rates[piece]))
    found = []
    for i, one in enumerate(lines):
        for two in lines[i + 1 :]:
            if one[1] == two[1] and one[0] <= two[0]:
                continue  # Never above the later one, and the first of equals is taken.
            window = _near(one, two, start, end)
            if window and not _beaten(lines, one, two, window):
                found += _parallel(one, two, window) if one[1] == two[1] else [window]
    found.sort()
    merged: list[tuple[int, int]] = []
    for first, last in found:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _near(
    one: tuple[float, float], two: tuple[float, float], start: int, end: int
) -> tuple[int, int] | None:
    """Return where two lines are as near as their rounding; two straight edges bound it."""
    gap = (one[0] - two[0], one[1] - two[1])
    band = (_ROUND * (one[0] + two[0]), _ROUND * (one[1] + two[1]))
    first, last = float(start), float(end)
    # gap < band and -gap < band: two half-lines.
    for sign in (1.0, -1.0):
        offset, slope = sign * gap[0] - band[0], sign * gap[1] - band[1]
        if slope == 0:
            if offset > 0:
                return None
        elif slope > 0:
            last = min(last, -offset / slope)
        else:
            first = max(first, -offset / slope)
    slack = 2.0 + 1e-9 * abs(last)
    low, high = max(start, int(first - slack)), min(end, int(last + slack) + 1)
    return (low, high) if low <= high else None


def _parallel(
    one: tuple[float, float], two: tuple[float, float], window: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return where two lines of one slope may change order, within a window.

    Between two powers of two, a transfer is a multiple of one unit, and a latency adds the
    same number of units to each, unless it is half of one, or the sum passes the power.
    """
    slope, most = one[1], max(one[0], two[0])
    found = []
    power = math.frexp(window[0] * slope)[1] - 2
    while (low := 2.0**power / slope * (1 - 2.0**-21)) <= window[1]:
        unit = 2.0 ** (power - 23)
        top = 2.0 ** (power + 1)
        halves = any((latency / unit) % 1 == 0.5 for latency in (one[0], two[0]))
        begin = low if halves else (top - most - 4 * unit) / slope * (1 - 2.0**-21)
        first = max(window[0], int(max(begin, 0)))
        last = min(window[1], int(top / slope * (1 + 2.0**-21)) + 1)
        if first <= last:
            found.append((first, last))
        power += 1
    return found


def _beaten(
    lines: list[tuple[float, float]],
    one: tuple[float, float],
    two: tuple[float, float],
    window: tuple[int, int],
) -> bool:
    """Whether a third line is clearly below both, all over the window."""

    def surely_above(upper: tuple[float, float], lower: tuple[float, float]) -> bool:
        return all(
            upper[0] + upper[1] * n - lower[0] - lower[1] * n
            > 2 * _ROUND * (upper[0] + upper[1] * n + lower[0] + lower[1] * n)
            for n in window
        )

    return any(
        surely_above(one, third) and surely_above(two, third)
        for third in lines
        if third not in {one, two}
    )


def _each(curves: list[Curve], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield where the lowest curve changes, trying every size that 32 bits tell apart."""
    for sizes in _sizes(first, last):
        best = np.argmin(np.stack([line.over(sizes) for line in curves]), axis=0)
        for place in (0, *(np.flatnonzero(np.diff(best)) + 1)):
            yield int(sizes[place]), int(best[place])


def _sizes(first: int, last: int) -> Iterator[Int]:
    """Yield all sizes up to 2**24, above it the first of each 32-bit float, in blocks.

    Wide windows of vast sizes are only sampled: floats may take turns there without end.
    """
    at = first
    while at <= last:
        # Halfway between two floats, conversion rounds to even; one size beside it is enough.
        step = max(1, 1 << (at.bit_length() - 25)) if at >= 1 << 24 else 1
        if at >= _VAST and last - at > step * _AT_ONCE:
            step = 1 << (at.bit_length() - _COARSE)
        end = min(last, (1 << at.bit_length()) - 1 if at >= 1 << 24 else (1 << 24) - 1)
        end = min(end, at + step * _AT_ONCE)
        if step == 1:
            yield np.arange(at, end + 1, dtype=np.int64)
        else:
            middles = np.arange(at // step * step, end + 1, step, dtype=np.int64)
            both = np.unique(np.concatenate([middles, middles + 1, [at]]))
            yield both[(both >= at) & (both <= end)]
        at = end + 1
