"""A last look at who is the fastest: everybody that no bound excludes, at many sizes.

Where ranks are late or messages share links, a time may fall as the size rises, and a few
runs do not tell all of the sizes between them. So a policy is compared, at several sizes in
each doubling, with every algorithm whose lower bound is below it; that holds at any size.
Where one is faster, the ends of that are run down, and the sizes beside looked at once more.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from collsim.choose.candidates import Candidate
from collsim.choose.curve import TIE
from collsim.choose.lines import Line, Stretch

__all__ = ["Sampled"]

# So many sizes in each part between sizes that were looked at, where somebody was faster.
_CLOSER: Final = 3
# How far from a border to look, as shares of its size.
_BESIDE: Final = (1e-4, 1e-3, 4e-3, 0.016, 0.06)
# So often at most; a policy of ever smaller ranges would help nobody.
_ROUNDS: Final = 16


class Sampled:
    """Looks at single sizes.

    Parameters
    ----------
    candidates : list of Candidate
        All that there are; of equals the first is the fastest.
    tie : float
        Times that differ by less, relative, are equal.
    shortest : float
        Ratio of sizes, less 1, closer to which an end is not run down; at 0 borders are
        looked at from both sides, too.
    """

    def __init__(self, candidates: list[Candidate], tie: float, shortest: float) -> None:
        self.owners = {v.owner: (c, v) for c in candidates for v in c.variants}
        self.candidates = candidates
        self.tie = tie
        self.shortest = shortest

    def correct(self, stretches: list[Stretch], per_doubling: int) -> list[Stretch]:
        """Return the stretches with what is faster somewhere put in.

        Parameters
        ----------
        stretches : list of Stretch
            Who is the fastest, by size and without a gap.
        per_doubling : int
            How many sizes to look at in each doubling.
        """
        low, high = stretches[0].low, stretches[-1].high
        looked = {low, high}
        todo = {low, high, *_sizes(low, high, per_doubling)}
        for _ in range(_ROUNDS):
            if not (todo := {n for n in todo if low <= n <= high}):
                break
            faster: list[tuple[int, Candidate]] = []
            for n in sorted(todo):
                found = self.faster(n, _part(stretches, n))
                if found is not None:
                    faster.append((n, found))
            looked |= todo
            order = sorted(looked)
            todo = set()
            for n, found in faster:
                if self._owner(stretches, n) is found:
                    # A neighbour has come that far.
                    continue
                at = order.index(n)
                before, after = order[max(0, at - 1)], order[min(len(order) - 1, at + 1)]
                stretches = self._put(stretches, n, before, after, found)
                todo.update(_between(before, n), _between(n, after))
            if not (todo or self.shortest):
                todo = self._beside(stretches)
            todo -= looked
        return stretches

    def _beside(self, stretches: list[Stretch]) -> set[int]:
        """Return sizes on both sides of every border, ever farther from it."""
        found: set[int] = set()
        for one, other in pairwise(stretches):
            if self.owners[one.owner][0] is not self.owners[other.owner][0]:
                low, high = one.high, other.low
                found |= {low, high}
                for share in _BESIDE:
                    found |= {round(low * (1 - share)), round(high * (1 + share))}
        return found

    def faster(self, nbytes: int, part: Stretch) -> Candidate | None:
        """Return who is faster than who has a stretch at a size in it; None if nobody is."""
        chosen, variant = self.owners[part.owner]
        mine = variant.seconds(nbytes) * (1 - self.tie)
        bounds = [(other.bound(nbytes), other) for other in self.candidates]
        rivals = [(b, other) for b, other in bounds if b < mine and other is not chosen]
        best = None
        for bound, other in sorted(rivals, key=lambda pair: pair[0]):
            if bound >= mine:
                break
            seconds = other.fastest(nbytes, at_most=mine)[1]
            if seconds >= mine:
                continue
            if best is None:
                # In another number of chunks it may be faster itself.
                mine = min(mine, chosen.fastest(nbytes, at_most=mine)[1] * (1 - self.tie))
            if seconds < mine:
                best, mine = other, seconds * (1 - TIE)
        return best

    def _owner(self, stretches: list[Stretch], nbytes: int) -> Candidate:
        return self.owners[_part(stretches, nbytes).owner][0]

    def _put(
        self, stretches: list[Stretch], n: int, before: int, after: int, found: Candidate
    ) -> list[Stretch]:
        """Return stretches where one has the sizes around one, up to where it is slower."""
        low = self._end(stretches, n, before, found)
        high = self._end(stretches, n, after, found)
        best, seconds = found.fastest(n)
        new = Stretch(low, high, Line(low, high, seconds, seconds), best.owner)
        parts = [*_without(stretches, low, high), new]
        return sorted(parts, key=lambda part: part.low)

    def _end(self, stretches: list[Stretch], n: int, to: int, found: Candidate) -> int:
        """Return the last size from one towards another at which somebody is still faster."""

        def is_faster(m: int) -> bool:
            chosen = self._owner(stretches, m)
            if chosen is found:
                return True
            mine = chosen.fastest(m)[1]
            return found.fastest(m, at_most=mine)[1] < mine * (1 - self.tie)

        if is_faster(to):
            return to
        while abs(to - n) > max(1, n * self.shortest):
            middle = (n + to) // 2
            if is_faster(middle):
                n = middle
            else:
                to = middle
        return n


def _part(stretches: list[Stretch], nbytes: int) -> Stretch:
    return next(s for s in stretches if s.low <= nbytes <= s.high)


def _without(stretches: list[Stretch], low: int, high: int) -> Iterator[Stretch]:
    """Yield what of stretches lies outside of some sizes."""
    for part in stretches:
        if part.low < low:
            yield Stretch(part.low, min(part.high, low - 1), part.line, part.owner)
        if part.high > high:
            yield Stretch(max(part.low, high + 1), part.high, part.line, part.owner)


def _sizes(low: int, high: int, per_doubling: int) -> list[int]:
    """Return whole sizes, so many in each doubling, that are no simple fractions of it."""
    first = max(1, low)
    if high <= first:
        return [low]
    count = max(1, round(per_doubling * math.log2(high / first)))
    ratio = (high / first) ** (1 / count)
    found = {round(first * ratio ** (i + 0.382)) for i in range(count)}
    return sorted({low, high, *(n for n in found if low < n < high)})


def _between(low: int, high: int) -> list[int]:
    """Return a few whole sizes between two."""
    found = {low + round((high - low) * (i + 1) / (_CLOSER + 1)) for i in range(_CLOSER)}
    return sorted(n for n in found if low < n < high)
