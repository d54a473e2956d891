"""What a few runs of a variant tell of the sizes in between.

With the order of events fixed a time is the greatest of many straight lines that rise with
the size and begin at no less than nothing. So it rises, it rises no faster than the size
itself, and it bends upwards only: it lies below the line between two of its points, and
above the lines that go on from two points beside them. Another order of events can break
this; the most that was seen in some thousand random cases is a fall by 1.42, and over a
short stretch next to nothing. So it is trusted but for a margin that grows with the stretch.
"""

import math
from bisect import bisect_left, insort
from itertools import combinations
from typing import Final

from collsim.choose.candidates import Variant
from collsim.choose.lines import Line

__all__ = ["Seen", "covered"]


# What is not trusted where a stretch is as long as a factor of four, and beyond.
_MARGIN: Final = 0.15
_FULL: Final = 4.0
# A bound that is above a time by less is not trusted to be so: both are sums of floats.
_SURE: Final = 1e-9


class Seen:
    """A variant, and its times at the sizes at which it was run.

    Parameters
    ----------
    variant : Variant
        Its bounds hold without any run.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.sizes: list[int] = []
        self._times: dict[int, float] = {}

    def at(self, nbytes: int) -> float:
        """Return its time at a size in seconds; run it if it was not."""
        if nbytes not in self._times:
            self._times[nbytes] = self.variant.seconds(nbytes)
            insort(self.sizes, nbytes)
        return self._times[nbytes]

    def ran(self, low: int, high: int) -> bool:
        """Return whether it was run at both ends of a stretch."""
        return low in self._times and high in self._times

    def chord(self, low: int, high: int) -> Line:
        """Return the straight line between its times at both ends of a stretch."""
        return Line(low, high, self.at(low), self.at(high))

    def straight(self, low: int, high: int, nbytes: int, noise: float) -> bool:
        """Return whether its time at a size lies on the line between both ends."""
        return self.chord(low, high).holds(nbytes, self.at(nbytes), noise)

    def above(self, line: Line, low: int, high: int, tie: float) -> bool:
        """Return whether it can't be below a line anywhere from one size to another.

        Parameters
        ----------
        line : Line
            Of another variant.
        low, high : int
            Bytes, both inclusive.
        tie : float
            By how much, relative, it has to be below the line; if 0, it may be as fast.
        """
        least = 1 - tie if tie else 1 + _SURE
        first, last = line.at(low) * least, line.at(high) * least
        bounds: list[tuple[float, float]] = []
        for lines in self.variant.bounds():
            bounds = [(at + slope * low, at + slope * high) for at, slope in lines]
            if covered(bounds, first, last):
                return True
        return covered(bounds + self._floors(low, high), first, last)

    def _floors(self, low: int, high: int) -> list[tuple[float, float]]:
        """Return lines that its runs keep it above, by their values at both ends."""
        found: list[tuple[float, float]] = []
        before = bisect_left(self.sizes, low + 1)  # so many runs up to the low end
        after = bisect_left(self.sizes, high)
        if before:
            n = self.sizes[before - 1]
            found.append(_trusted(n, high, (self._times[n],) * 2))
        if after < len(self.sizes):
            n = self.sizes[after]
            seconds = self._times[n] / n
            found.append(_trusted(low, n, (seconds * low, seconds * high)))
        for i in (before - 2, after):
            if 0 <= i < len(self.sizes) - 1:
                one, two = self.sizes[i], self.sizes[i + 1]
                chord = self.chord(one, two)
                values = chord.at(low), chord.at(high)
                found.append(_trusted(min(low, one), max(high, two), values))
        return found


def _trusted(low: float, high: float, values: tuple[float, float]) -> tuple[float, float]:
    """Return times less what is not trusted over a stretch."""
    width = math.log(high / max(1, low)) / math.log(_FULL)
    share = 1 - _MARGIN * min(1.0, width)
    return values[0] * share, values[1] * share


def covered(lines: list[tuple[float, float]], first: float, last: float) -> bool:
    """Return whether the greatest of some lines is at least another one on a stretch.

    All are given by their values at both ends. The greatest bends upwards, so it is least
    above the other one at an end or where two of the lines meet.
    """
    over = [(a - first, b - last) for a, b in lines]
    if any(a >= 0 and b >= 0 for a, b in over):
        return True
    if max((a for a, _ in over), default=-1.0) < 0 or max(b for _, b in over) < 0:
        return False
    for (a, b), (c, d) in combinations(over, 2):
        if (a - c) * (b - d) < 0:
            share = (a - c) / ((a - c) - (b - d))
            if max(p + share * (q - p) for p, q in over) < 0:
                return False
    return True
