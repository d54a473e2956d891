"""Who is the fastest where: stretches of sizes are parted until one is shown to be.

On a stretch some variants are out by their bounds, others by the runs at its ends. If those
that are left are of one algorithm, it has the stretch. If all are straight lines there, the
lowest is told from the lines. Otherwise the stretch is parted.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from collsim.choose.envelope import Envelope
from collsim.choose.lines import Line, Stretch
from collsim.choose.seen import Seen, covered
from collsim.engine.chunks import BETTER, ENOUGH, more_chunks
from collsim.errors import TooLargeError

__all__ = ["Contest"]

# A stretch begins as long as this ratio of sizes.
_LONGEST: Final = 16
# More lines are not compared before bounds and runs have had another try, but for where a
# stretch is no longer than this: times that are equal, or nearly, no run ever parts.
_FEW: Final = 6
_SHORT: Final = 3


@dataclass
class Contest:
    """All variants, and how exactly they are told apart.

    Parameters
    ----------
    seen : dict of Seen
        By owner.
    formula : bool
        Whether all times are straight lines.
    noise : float
        How far off a line, relative, a time counts as on it.
    shortest : float
        Ratio of sizes, less 1, below which a stretch has one swap at most.
    tie : float
        Times that differ by less, relative, are equal.
    """

    seen: dict[int, Seen]
    formula: bool
    noise: float
    shortest: float
    tie: float

    def __post_init__(self) -> None:
        self._families: dict[tuple[int, int], list[Seen]] = {}
        for s in self.seen.values():
            key = id(s.variant.candidate), s.variant.channels
            self._families.setdefault(key, []).append(s)

    def run(self, low: int, high: int) -> list[Stretch]:
        """Return who is the fastest from one whole size to another.

        Returns
        -------
        list of Stretch
            By size, without a gap; each has a line that its owner is nowhere above.
        """
        found: list[Stretch] = []
        for first, last in self._edges(low, high):
            alive = [s for s in self.seen.values() if s.variant.low <= first]
            for part in self._settle(first, last, alive):
                # Neighbours share a size: it belongs to the first.
                start = part.low if not found else found[-1].high + 1
                if start <= part.high:
                    found.append(Stretch(start, part.high, part.line, part.owner))
        return [part for part in self._true(found) if part.low <= part.high]

    def _edges(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        lows = {s.variant.low for s in self.seen.values()}
        edges = {low, *(n for n in lows if low < n <= high)}
        if not self.formula:
            size = max(1, low)
            while size * _LONGEST < high:
                size *= _LONGEST
                edges.add(size)
        starts = [*sorted(edges), high + 1]
        for first, after in pairwise(starts):
            yield first, after - 1

    def _settle(self, low: int, high: int, alive: Sequence[Seen]) -> Iterator[Stretch]:
        todo = [(low, high, list(alive))]
        while todo:
            a, b, left = todo.pop()
            left = self._left(a, b, left)
            best = self._best(a, b, left)
            if self._one(left) or b - a <= 1:
                first, last = self._fastest(a, left), self._fastest(b, left)
                if self._one(left) or first.variant.name == last.variant.name:
                    yield Stretch(a, b, best.chord(a, b), best.variant.owner)
                else:
                    yield Stretch(a, a, first.chord(a, a), first.variant.owner)
                    yield Stretch(b, b, last.chord(b, b), last.variant.owner)
                continue
            inner = _inner(a, b)
            # The last of them first: it is the most likely not to be straight.
            few = self.formula or len(left) <= _FEW or b <= a * _SHORT
            if few and all(self._straight(s, a, b, inner) for s in left[::-1]):
                envelope = Envelope(a, b, tie=self.tie)
                for s in left:
                    envelope.lower([Stretch(a, b, s.chord(a, b), s.variant.owner)])
                yield from envelope.stretches
                continue
            if b - a <= a * self.shortest:
                yield from self._swap(a, b, left)
                continue
            ends = [a, *inner, b]
            todo += [(c, d, left) for c, d in reversed(list(pairwise(ends)))]

    def _left(self, a: int, b: int, alive: list[Seen]) -> list[Seen]:
        """Return who may be the fastest somewhere; run as many as it takes to tell."""
        ran = [s for s in alive if s.ran(a, b)]
        lines: dict[int, Line] = {}
        while True:
            if ran:
                lines = {s.variant.owner: s.chord(a, b) for s in self._lowest(ran, a, b)}
                alive = [
                    s for s in alive
                    if not any(
                        s.above(line, a, b, self.tie * (s.variant.owner > owner))
                        for owner, line in lines.items() if owner != s.variant.owner
                    )
                ]  # fmt: skip
                if self._one(alive):
                    return alive
            waiting = [s for s in alive if not s.ran(a, b)]
            if not waiting:
                return alive
            middle = math.sqrt(max(1, a) * b)
            waiting = [s for s in waiting if not self._past_best(s, a, b, lines.values())]
            if not waiting:
                return ran
            following = min(waiting, key=lambda s: (s.variant.bound(middle), s.variant.owner))
            following = self._first(following, a, b)
            try:
                following.at(a), following.at(b)
            except TooLargeError:
                alive = [s for s in alive if s is not following]
                self.seen.pop(following.variant.owner, None)
                continue
            ran = [s for s in alive if s.ran(a, b)]

    def _first(self, one: Seen, a: int, b: int) -> Seen:
        """Return who of the same is to be run before one: fewer chunks, which may tell.

        Twice as many take twice as long to run, so those before take no longer together.
        """
        mine = one.variant
        fewer = [
            s
            for s in self._families[id(mine.candidate), mine.channels]
            if s.variant.chunks < mine.chunks
            and s.variant.owner in self.seen
            and not s.ran(a, b)
        ]
        return min(fewer, key=lambda s: s.variant.chunks, default=one)

    def _past_best(self, one: Seen, a: int, b: int, lines: Iterable[Line]) -> bool:
        """Return whether fewer chunks show that so many are not the fastest on a stretch.

        The best number of chunks rises with the size: what is past it at the high end is
        so everywhere below.
        """
        tried = self._fewer(one, b)
        least = min((seconds for _, seconds in tried), default=0.0) * (1 + BETTER)
        best = next((i for i, (_, seconds) in enumerate(tried) if seconds <= least), 0)
        if len(tried) - best > ENOUGH:
            return True
        start, end = more_chunks(self._fewer(one, a)), more_chunks(tried)
        floors = [(start, start), (end * a / max(1, b), end)]
        return any(covered(floors, line.at(a), line.at(b)) for line in lines)

    def _fewer(self, one: Seen, nbytes: int) -> list[tuple[int, float]]:
        """Return times at a size of fewer chunks of the same, where they were run."""
        mine = one.variant
        family = self._families[id(mine.candidate), mine.channels]
        return [
            (s.variant.chunks, s.at(nbytes))
            for s in family
            if s.variant.chunks < mine.chunks and s.ran(nbytes, nbytes)
        ]

    def _straight(self, seen: Seen, a: int, b: int, inner: list[int]) -> bool:
        return self.formula or all(seen.straight(a, b, n, self.noise) for n in inner)

    @staticmethod
    def _one(alive: Sequence[Seen]) -> bool:
        return len({s.variant.name for s in alive}) == 1

    def _lowest(self, ran: Sequence[Seen], a: int, b: int) -> list[Seen]:
        """Return the few that others are compared with: the lowest at either end and in all.

        Of equals the first, which excludes all the others.
        """
        best: set[int] = set()
        for times in (
            [s.at(a) for s in ran],
            [s.at(b) for s in ran],
            [math.sqrt(s.at(a) * s.at(b)) for s in ran],
        ):
            least = min(times) * (1 + self.tie)
            best.add(next(i for i, seconds in enumerate(times) if seconds <= least))
        return [ran[i] for i in sorted(best)]

    @staticmethod
    def _best(a: int, b: int, left: Sequence[Seen]) -> Seen:
        ran = [s for s in left if s.ran(a, b)] or left
        return min(ran, key=lambda s: (s.at(a) + s.at(b), s.variant.owner))

    def _fastest(self, n: int, left: Sequence[Seen]) -> Seen:
        """Return the fastest at a size among those that are left; of equals the first."""
        if len(left) > 1 and self._one(left):
            left = [s for s in left if s.ran(n, n)] or left[:1]
        left = [s for s in left if s.variant.low <= n] or left
        least = min(s.at(n) for s in left)
        equal = [s for s in left if s.at(n) <= least * (1 + self.tie)]
        return min(equal, key=lambda s: s.variant.owner)

    def _swap(self, a: int, b: int, left: Sequence[Seen]) -> Iterator[Stretch]:
        """Yield who has the two ends of a short stretch, with the swap run down."""
        first, last = self._fastest(a, left), self._fastest(b, left)
        if first.variant.name == last.variant.name:
            best = self._best(a, b, left)
            yield Stretch(a, b, best.chord(a, b), best.variant.owner)
            return
        low, high = self._root(a, b, left, first.variant.name)
        yield Stretch(a, low, first.chord(a, low), first.variant.owner)
        if (then := self._fastest(high, left)).variant.name == last.variant.name:
            yield Stretch(high, b, last.chord(high, b), last.variant.owner)
        else:
            yield Stretch(high, high, then.chord(high, high), then.variant.owner)
            yield from self._swap(high, b, left)

    def _root(self, low: int, high: int, left: Sequence[Seen], name: str) -> tuple[int, int]:
        """Return neighbours between which the fastest is no longer of that name."""
        while high - low > 1:
            middle = (low + high) // 2
            if self._fastest(middle, left).variant.name == name:
                low = middle
            else:
                high = middle
        return low, high

    def _true(self, found: list[Stretch]) -> list[Stretch]:
        """Move borders that lines have told to where the times themselves swap."""
        if self.formula:
            return found
        for i in range(1, len(found)):
            one, two = found[i - 1], found[i]
            pair = [self.seen[one.owner], self.seen[two.owner]]
            if self._one(pair):
                continue
            rivals = self._rivals(one.high, two.low, pair)
            name, border = pair[0].variant.name, self._moved(one, two, rivals, pair)
            if border is not None:
                low, high = self._root(*border, rivals, name)
                found[i - 1] = Stretch(one.low, low, one.line, one.owner)
                found[i] = Stretch(high, two.high, two.line, two.owner)
        return found

    def _rivals(self, low: int, high: int, pair: list[Seen]) -> list[Seen]:
        """Return two variants, and those of the same algorithms that may be faster there."""
        names = {s.variant.name for s in pair}
        lines = [s.chord(low, high) for s in pair if s.variant.low <= low]
        more = [
            s
            for s in self.seen.values()
            if s.variant.name in names and s.sizes and s not in pair
        ]
        return pair + [
            s for s in more if not any(s.above(line, low, high, self.tie) for line in lines)
        ]

    def _moved(
        self, one: Stretch, two: Stretch, rivals: list[Seen], pair: list[Seen]
    ) -> tuple[int, int] | None:
        """Return sizes around the true swap, if it is not where it was put."""
        names = [s.variant.name for s in pair]

        def fastest(n: int) -> str:
            return self._fastest(n, rivals).variant.name

        low, high, step = one.high, two.low, 1
        if [fastest(low), fastest(high)] == names:
            return None
        while fastest(low) != names[0]:
            if low <= one.low:
                return None
            low, high, step = max(one.low, low - step), low, step * 2
        while fastest(high) != names[1]:
            if high >= two.high:
                return None
            low, high, step = high, min(two.high, high + step), step * 2
        return low, high


def _inner(low: int, high: int) -> list[int]:
    """Return whole sizes inside a stretch, which are no simple fractions of it."""
    ratio = high / max(1, low)
    if ratio > 2:
        found = {round(max(1, low) * ratio**share) for share in (0.382, 0.6907)}
    else:
        found = {low + round((high - low) * share) for share in (0.382, 0.6907)}
    return sorted(n for n in found if low < n < high) or [(low + high) // 2]
