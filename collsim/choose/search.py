"""Find every change of sign of the difference of two curves of time against size.

The times are exact functions of a real size. With the order of events fixed a time is
the greatest of many straight lines, and the best over chunk counts the least of such
functions; where the order of events changes it can jump. Intervals are halved until in
each one either the curves cannot meet, or both are straight, or it is too short to
matter; in the last two kinds a change of sign is then run down to a point.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from collsim.choose.curve import TIE

__all__ = ["Jump", "Search"]

# Swaps closer together than this ratio of sizes are not told apart.
_RESOLUTION: Final = 1e-4
_LEAST: Final = 1e-6
# Where messages share links, another order of them can make a larger size faster; the
# most that was seen in some thousand random cases is a fall by 1.42. So a curve counts as
# above another only by this much, and doublings are looked at in so many parts at least.
_FALL: Final = 2.0
_PARTS: Final = 4
# Event times lie on a grid: what a thousand chunks cost in turn is rounded a thousand times,
# and was seen to leave a straight line by 4e-11 of its height.
_STRAIGHT: Final = 1e-9

_Times = Callable[[float], float]


@dataclass(frozen=True)
class Jump:
    """Times on both sides of a size at which a curve jumps.

    Parameters
    ----------
    a_below_us, a_above_us, b_below_us, b_above_us : float
        Microseconds of a and of b, just below and just above.
    """

    a_below_us: float
    a_above_us: float
    b_below_us: float
    b_above_us: float


class Search:
    """Finds the changes of sign of a(n) - b(n).

    Parameters
    ----------
    a, b : callable
        Times at a size.
    steady : bool
        Whether times never fall with size, and jump nowhere but at powers of two.
    """

    def __init__(self, a: _Times, b: _Times, steady: bool) -> None:
        self.a, self.b = cache(a), cache(b)
        self.margin = 1 + 1e-3 if steady else _FALL
        self.parts = 1 if steady else _PARTS
        self.swaps: list[tuple[float, float, int, Jump | None]] = []

    def sign(self, n: float) -> int:
        """Return -1 where a is faster, 1 where b is, 0 where they differ by rounding only."""
        a, b = self.a(n), self.b(n)
        if abs(a - b) <= TIE * max(a, b):
            return 0
        return -1 if a < b else 1

    def run(self, low: float, high: float) -> set[int]:
        """Search a range; return the signs that occur."""
        # A chunk is a byte at least, so a better count may become possible at a power of
        # two, and the time fall there; each interval ends just below the next one.
        powers = [2.0**k for k in range(63) if low < 2.0**k < high]
        edges = sorted({low, high, *powers, *(math.nextafter(p, 0.0) for p in powers)})
        inner = (
            left + (right - left) * part / self.parts
            for left, right in pairwise(edges)
            for part in range(1, self.parts)
        )
        edges = sorted({*edges, *inner})
        points = sorted({p for left, right in pairwise(edges) for p in self.split(left, right)})
        return self.scan(points)

    def scan(self, points: Sequence[float]) -> set[int]:
        """Look at sizes between which the sign changes at most once; return what occurs."""
        seen: set[int] = set()
        last, since = 0, points[0]
        for n in points:
            sign = self.sign(n)
            if sign == 0:
                continue
            if last == -sign:
                self.pin(since, n, last)
            seen.add(sign)
            last, since = sign, n
        return seen

    def split(self, low: float, high: float) -> list[float]:
        """Return points such that between neighbours the sign changes at most once."""
        points, todo = [low, high], [(low, high)]
        while todo:
            left, right = todo.pop()
            if (
                right - left <= max(left * _RESOLUTION, _LEAST)
                or self.apart(left, right)
                or (straight(self.a, left, right) and straight(self.b, left, right))
            ):
                continue
            middle = (left + right) / 2
            points.append(middle)
            todo += [(left, middle), (middle, right)]
        return points

    def apart(self, left: float, right: float) -> bool:
        """Whether one curve lies so far above the other that they can't meet."""
        return self.a(right) * self.margin < self.b(left) or self.b(
            right
        ) * self.margin < self.a(left)

    def pin(self, low: float, high: float, sign: int) -> None:
        """Run one change of sign down to a size, and say whether a curve jumps there."""
        from scipy.optimize import brentq

        size = float(
            brentq(lambda n: self.a(n) - self.b(n), low, high, xtol=1e-12 * high, rtol=1e-14)
        )
        a, b = self.a(size), self.b(size)
        if abs(a - b) <= 1e-9 * max(a, b):
            if self.sign(min(high, size * (1 + 1e-6))) == 0:
                # Equal along a stretch: the swap is where the other one gets ahead.
                _, size = self.edge(size, high, sign)
            self.swaps.append((size, max(self.a(size), self.b(size)), sign, None))
            return
        below, above = self.edge(low, high, sign)
        jump = Jump(
            *(f(n) * 1e6 for f in (self.a, self.b) for n in (below, above)),
        )
        self.swaps.append((above, min(self.a(above), self.b(above)), sign, jump))

    def edge(self, low: float, high: float, sign: int) -> tuple[float, float]:
        """Return two sizes, next to each other, with the change of sign between them."""
        for _ in range(200):
            middle = (low + high) / 2
            if not low < middle < high or high - low <= 1e-12 * high:
                break
            if self.sign(middle) in (sign, 0):
                low = middle
            else:
                high = middle
        return low, high


def straight(curve: _Times, left: float, right: float) -> bool:
    """Whether a curve is a straight line, as far as two points between its ends tell."""
    start, end = curve(left), curve(right)
    # The second point is no simple fraction, as kinks of equal splits are.
    return all(
        abs(curve(left + share * (right - left)) - (start + share * (end - start)))
        <= _STRAIGHT * (start + end)
        for share in (0.5, 0.2718)
    )
