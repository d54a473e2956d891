"""A time as straight lines over whole sizes, from as few runs as tell them.

With the order of events fixed, a time is the greatest of many straight lines; where the
order changes it can jump. So a stretch of sizes is halved until every part is straight as
far as points in it tell, or one size long; where the lines of both ends meet on the curve
the stretch is parted there at once.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from collsim.choose.curve import TIE

__all__ = ["Line", "Stretch", "trace"]

# A stretch begins as long as this ratio of sizes, and is looked at in so many places for
# every doubling. What is shorter than the last ratio has room for one jump at most.
_LONGEST: Final = 16
_PER_DOUBLING: Final = 3
_SHORTEST: Final = 1e-4
# Where times are noisy, a stretch this short is a line if no point is further off.
_COARSE: Final = 1 / 16
_OFF: Final = 0.01

_Times = Callable[[float], float]


@dataclass(frozen=True)
class Line:
    """A straight line through two points, exact in both."""

    left: int
    right: int
    first: float
    last: float

    def at(self, nbytes: float) -> float:
        """Return the time at a size.

        Examples
        --------
        >>> Line(0, 10, 1.0, 2.0).at(5)
        1.5
        """
        if self.right == self.left:
            return self.first
        share = (nbytes - self.left) / (self.right - self.left)
        return self.first + share * (self.last - self.first)

    def holds(self, nbytes: float, seconds: float, noise: float) -> bool:
        """Return whether a point lies on it, but for noise."""
        return abs(self.at(nbytes) - seconds) <= noise * seconds


@dataclass(frozen=True)
class Stretch:
    """A line from one whole size to another, both inclusive, and whose it is."""

    low: int
    high: int
    line: Line
    owner: int = 0


def trace(
    times: _Times, low: int, high: int, owner: int = 0, noise: float = TIE
) -> list[Stretch]:
    """Return the lines of a curve from one whole size to another.

    Parameters
    ----------
    times : callable
        Seconds at a size.
    low, high : int
        Bytes, both inclusive.
    owner : int
        Whose curve it is.
    noise : float
        Differences of two times that are rounding only, relative.

    Returns
    -------
    list of Stretch
        By size, without a gap.

    Examples
    --------
    >>> [(part.low, part.high) for part in trace(lambda n: max(100.0, 2 * n), 10, 90)]
    [(10, 50), (51, 90)]
    """
    edges = [low]
    while max(1, edges[-1]) * _LONGEST < high:
        edges.append(max(1, edges[-1]) * _LONGEST)
    found: list[Stretch] = []
    for i, start in enumerate(edges):
        end = edges[i + 1] - 1 if i + 1 < len(edges) else high
        found += (
            Stretch(low, high, line, owner)
            for low, high, line in _parts(times, start, end, noise)
        )
    return found


def _parts(times: _Times, low: int, high: int, noise: float) -> Iterator[tuple[int, int, Line]]:
    todo = [(low, high)]
    while todo:
        left, right = todo.pop()
        line = Line(left, right, times(left), times(right))
        if right - left <= 1:
            yield (left, right, line)
            continue
        inner = [(n, times(n)) for n in _places(left, right)]
        off = _OFF if noise > TIE and right - left <= left * _COARSE else noise
        if all(line.holds(*point, off) for point in inner):
            yield (left, right, line)
        elif right - left <= left * _SHORTEST:
            middle = _jump(times, line)
            yield (left, middle, Line(left, middle, line.first, times(middle)))
            after = middle + 1
            yield (after, right, Line(after, right, times(after), line.last))
        else:
            middle = _corner(times, line, inner)
            todo += [(middle + 1, right), (left, middle)]


def _places(left: int, right: int) -> list[int]:
    """Return whole sizes inside a stretch, two at least where there are two.

    They are no simple fractions of it, as the corners of equal splits are.
    """
    ratio = right / max(1, left)
    if ratio < 2:
        shares = (0.2718, 0.5772)
        found = {left + round(share * (right - left)) for share in shares}
    else:
        count = math.ceil(_PER_DOUBLING * math.log2(ratio))
        found = {round(max(1, left) * ratio ** ((i + 0.618) / count)) for i in range(count)}
    return sorted(n for n in found if left < n < right) or [(left + right) // 2]


def _corner(times: _Times, line: Line, inner: list[tuple[int, float]]) -> int:
    """Return where to part a stretch: where the lines of its ends meet, or halfway."""
    (a, seconds_a), (b, seconds_b) = inner[0], inner[-1]
    rise = (seconds_a - line.first) / (a - line.left)
    climb = (line.last - seconds_b) / (line.right - b)
    if rise != climb:
        there = line.first - rise * line.left - (line.last - climb * line.right)
        meet = there / (climb - rise)
        if a < meet < b:
            corner = math.floor(meet)
            seconds = times(corner)
            if abs(line.first + rise * (corner - line.left) - seconds) <= 1e-9 * seconds:
                return corner
    return (
        (line.left + line.right) // 2
        if line.right < 2 * line.left
        else math.isqrt(max(1, line.left) * line.right)
    )


def _jump(times: _Times, line: Line) -> int:
    """Return the last size at which the time is still nearer to that of the left end."""
    low, high = line.left, line.right
    while high - low > 1:
        middle = (low + high) // 2
        seconds = times(middle)
        if abs(seconds - line.first) <= abs(seconds - line.last):
            low = middle
        else:
            high = middle
    return low
