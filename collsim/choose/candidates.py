"""What a policy chooses among: every algorithm, in every number of chunks worth a try."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Final

from collsim.choose.bounds import Bounds, Lines, highest
from collsim.choose.curve import Curve, tie_of
from collsim.engine.chunks import BETTER, ENOUGH, candidates, more_chunks
from collsim.errors import TooLargeError

__all__ = ["Candidate", "Lines", "Variant"]

# Owners of one algorithm's variants are numbered from a multiple of it.
_VARIANTS: Final = 2**16
# Chunks times ranks up to which a formula's answer is simulated to confirm it, and how
# nearly equal their times have to be.
_CONFIRMED: Final = 2**14
_SAME: Final = 1e-9
# A size far above all that are asked for.
_FAR: Final = 2.0**60


@dataclass(frozen=True, eq=False)
class Variant:
    """An algorithm in so many chunks and channels.

    Parameters
    ----------
    owner : int
        Its place among all; of equals the smallest is chosen.
    name : str
        Of the algorithm.
    chunks, channels : int
        So many.
    candidate : Candidate
        Knows what it costs.
    """

    owner: int
    name: str
    chunks: int
    channels: int
    candidate: "Candidate"

    @property
    def low(self) -> int:
        """The smallest size in bytes: a chunk is a byte at least."""
        return self.chunks if self.chunks > 1 and self.candidate.free else 0

    def bounds(self) -> Iterator[Lines]:
        """Yield lower bounds, each as lines of seconds at 0 and per byte.

        What takes the least work comes first: one that holds for any number of chunks,
        one told from few chunks, and that of its own schedule.
        """
        yield from self.candidate.bounds(self.chunks, self.channels)

    def bound(self, nbytes: float) -> float:
        """Return its lower bound in seconds at a size, from one chunk."""
        return highest(next(self.bounds()), nbytes)

    def seconds(self, nbytes: float) -> float:
        """Return its time in seconds at a size."""
        return self.candidate.seconds(self.chunks, self.channels, nbytes)


class Candidate:
    """One algorithm: its variants, their lower bounds, and their times.

    Parameters
    ----------
    curve : Curve
        The algorithm where it runs, in a number of chunks that may be free.
    place : int
        Its place among all algorithms; of equals the first is chosen.
    """

    def __init__(self, curve: Curve, place: int) -> None:
        self.name = curve.name
        self.free = curve.chunks is None
        self.formula = curve.by_formula(2 if curve.chunks is None else curve.chunks)
        self._curve = curve
        self._tie = tie_of(curve.cluster)
        self.by_formula = cache(self._formula)
        # It is compiled where that is repaid by many runs.
        self.simulation = curve.simulation
        self.of = Bounds(self.simulation)
        self.exact = cache(self._exact)
        self.seconds = cache(self._seconds)
        self.variants = [
            Variant(place * _VARIANTS + i, self.name, chunks, channels, self)
            for i, (chunks, channels) in enumerate(
                (chunks, channels)
                for channels in curve.channels
                for chunks in self._counts(channels)
            )
        ]

    def _counts(self, channels: int) -> tuple[int, ...]:
        curve = self._curve
        if curve.chunks is not None:
            return (curve.chunks,)
        if curve.model == "formula" and not self.formula:
            return (1,)
        if curve.asked:
            return curve.asked
        return candidates(self.formula, curve.cluster.ranks * channels)

    def _formula(self, chunks: int) -> Curve:
        curve = self._curve
        return Curve(
            curve.collective.name,
            curve.name,
            curve.cluster,
            root=curve.root,
            chunks=chunks,
            channels=1,
            model=curve.model,
        )

    def _seconds(self, chunks: int, channels: int, nbytes: float) -> float:
        if self.formula:
            return self.by_formula(chunks).seconds(nbytes)
        return self.simulation(chunks, channels).makespan(nbytes)

    def bounds(self, chunks: int, channels: int) -> Iterator[Lines]:
        """Yield lower bounds of a variant; see :meth:`Variant.bounds`."""
        if self.formula:
            yield self.exact(chunks)
            return
        if chunks > 1 and self.free:
            yield self.of.any_chunks(channels)
            try:
                yield self.of.from_chunks(chunks, channels) or self.of.lines(chunks, channels)
            except TooLargeError:
                # What is too large to be built is never run either.
                return
            return
        yield self.of.lines(chunks, channels)

    def _exact(self, chunks: int) -> Lines:
        start, far = self.seconds(chunks, 1, 0.0), self.seconds(chunks, 1, _FAR)
        return [(start, max(0.0, far - start) / _FAR)]

    def bound(self, nbytes: float) -> float:
        """Return a time in seconds that no variant is below at a size."""
        return min(v.bound(nbytes) for v in self.variants)

    def fastest(self, nbytes: float, at_most: float = math.inf) -> tuple[Variant, float]:
        """Return the fastest variant at a size and its time, by the rule of `predict`.

        Parameters
        ----------
        nbytes : float
            The size.
        at_most : float
            A time in seconds; if all are slower, any of them will do.
        """
        best, least = self.variants[0], math.inf
        for _, group in groupby(self.variants, key=lambda v: v.channels):
            worse, fewest = 0, math.inf
            tried: list[tuple[int, float]] = []
            for variant in group:
                enough = worse == ENOUGH or (not worse and more_chunks(tried) > at_most)
                if (
                    variant.low > nbytes
                    or enough
                    or self._busy(variant, nbytes) > min(at_most, least * (1 + self._tie))
                ):
                    break
                try:
                    seconds = variant.seconds(nbytes)
                except TooLargeError:
                    break
                tried.append((variant.chunks, seconds))
                worse = 0 if seconds < fewest * (1 - BETTER) else worse + 1
                fewest = min(fewest, seconds)
                if seconds < least * (1 - self._tie):
                    best, least = variant, seconds
        return best, least

    def _busy(self, variant: Variant, nbytes: float) -> float:
        """Return seconds for which links are busy in so many chunks or more, if few tell."""
        if self.formula or not self.free:
            return 0.0
        return highest(self.of.from_chunks(variant.chunks, variant.channels), nbytes)

    def confirmed(self, best: Variant, nbytes: float) -> bool | None:
        """Return whether a simulation says what a formula does of time and chunks.

        Parameters
        ----------
        best : Variant
            What is the fastest by the formula.
        nbytes : float
            The size.
        """
        if not self.formula or self._curve.model == "formula" or not self.free:
            return None
        place = self.variants.index(best)
        beside = [v for v in self.variants[max(0, place - 1) : place + 2] if v.low <= nbytes]
        if beside[-1].chunks * self._curve.cluster.ranks > _CONFIRMED:
            return None
        times = {v.chunks: self.simulation(v.chunks, 1).makespan(nbytes) for v in beside}
        least = min(times.values())
        same = math.isclose(times[best.chunks], best.seconds(nbytes), rel_tol=_SAME)
        return same and times[best.chunks] <= least * (1 + _SAME)

    def drop_too_large(self) -> dict[str, str]:
        """Drop what can't be simulated even in one chunk; return what that is, and why."""
        dropped: dict[str, str] = {}
        kept: list[Variant] = []
        for channels, group in groupby(self.variants, key=lambda v: v.channels):
            alike = list(group)
            try:
                next(alike[0].bounds())
            except TooLargeError as error:
                dropped[f"{self.name} in {channels} channels"] = str(error)
            else:
                kept += alike
        self.variants = kept
        if not kept:
            return {self.name: next(iter(dropped.values()))}
        return dropped
