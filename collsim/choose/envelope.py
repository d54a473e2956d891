"""The lowest of many curves of straight lines, over whole sizes, and who it belongs to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from collsim.choose.curve import TIE
from collsim.choose.lines import Stretch

__all__ = ["Envelope"]


@dataclass
class Envelope:
    """The least time at every whole size of a range; empty until the first curve comes.

    Parameters
    ----------
    low, high : int
        Bytes, both inclusive.
    stretches : list of Stretch
        By size, without a gap, once the first curve has come.
    tie : float
        Times that differ by less, relative, are equal.
    """

    low: int
    high: int
    stretches: list[Stretch] = field(default_factory=list)
    tie: float = TIE

    def lower(self, stretches: Sequence[Stretch]) -> None:
        """Lower it to a curve, where that is faster; of equals the smaller owner stays.

        Parameters
        ----------
        stretches : sequence of Stretch
            Of the curve, by size; the first curve's without a gap.
        """
        if not self.stretches:
            self.stretches = list(stretches)
            return
        found: list[Stretch] = []
        waiting = list(reversed(stretches))
        for old in self.stretches:
            at = old.low
            while at <= old.high:
                while waiting and waiting[-1].high < at:
                    waiting.pop()
                if not waiting or waiting[-1].low > old.high:
                    found.append(replace(old, low=at))
                    break
                new = waiting[-1]
                if new.low > at:
                    found.append(replace(old, low=at, high=new.low - 1))
                    at = new.low
                end = min(old.high, new.high)
                found += _lowest(old, new, at, end, self.tie)
                at = end + 1
        self.stretches = _joined(found)

    def times_above(self, lines: Sequence[tuple[float, float]]) -> float:
        """Return by what factor a lower bound is above it where it is nearest to it."""
        # Between the corners of both a ratio of straight lines has no least value.
        corners = [
            round((at - other) / (steeper - slope))
            for (at, slope), (other, steeper) in pairwise(lines)
        ]
        return min(
            (
                max(at + slope * n for at, slope in lines) / seconds
                for part in self.stretches
                for n in (part.low, part.high, *corners)
                if part.low <= n <= part.high and (seconds := part.line.at(n)) > 0
            ),
            default=1.0,
        )


def _lowest(old: Stretch, new: Stretch, low: int, high: int, tie: float) -> list[Stretch]:
    """Return the lower of two lines from one size to another."""

    def stays(n: int) -> bool:
        a, b = old.line.at(n), new.line.at(n)
        if abs(a - b) <= tie * max(a, b):
            return old.owner <= new.owner
        return a < b

    first, last = stays(low), stays(high)
    if first == last:
        return [replace(old if first else new, low=low, high=high)]
    middle = _last(lambda n: stays(n) == first, low, high)
    pair = (old, new) if first else (new, old)
    return [replace(pair[0], low=low, high=middle), replace(pair[1], low=middle + 1, high=high)]


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last size at which something holds that does at the low end only."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """Return stretches with neighbours on one line as one."""
    found: list[Stretch] = []
    for part in stretches:
        if found and found[-1].line is part.line:
            found[-1] = replace(found[-1], high=part.high)
        else:
            found.append(part)
    return found
