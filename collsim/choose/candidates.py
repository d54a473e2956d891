"""What a policy chooses among: every algorithm, in every number of chunks worth a try."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from collsim.choose.curve import Curve
from collsim.engine.chunks import candidates
from collsim.engine.least import Least, least
from collsim.engine.simulation import Simulation, large
from collsim.errors import TooLargeError

__all__ = ["Candidate", "Variant"]

_Lines = list[tuple[float, float]]

# Owners of one algorithm's variants are numbered from a multiple of it.
_VARIANTS: Final = 64
_RUNS: Final = 100
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

    def lines(self, sure: bool = False) -> _Lines:
        """Return its lower bound, as lines of seconds at 0 and per byte.

        Parameters
        ----------
        sure : bool
            Whether to build its schedule for it, and not to tell it from fewer chunks.
        """
        return self.candidate.lines(self.chunks, self.channels, sure)

    def bound(self, nbytes: float) -> float:
        """Return its lower bound in seconds at a size."""
        return max(at + slope * nbytes for at, slope in self.lines())

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
        self.fair = curve.cluster.sharing == "fair"
        self.free = curve.chunks is None
        self.formula = curve.by_formula(2 if curve.chunks is None else curve.chunks)
        self._curve = curve
        self.by_formula = cache(self._formula)
        self.simulation = cache(self._simulation)
        self.least = cache(self._least)
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
        return candidates(self.formula, curve.cluster.ranks * channels)

    def _simulation(self, chunks: int, channels: int) -> Simulation:
        schedule = self._curve.schedule(chunks, channels)
        # Its curve takes about so many runs.
        compiled = large(len(schedule) * _RUNS, self.fair)
        return Simulation(schedule, self._curve.cluster, compiled=compiled)

    def _formula(self, chunks: int) -> Curve:
        curve = self._curve
        return Curve(
            curve.collective.name,
            curve.name,
            curve.cluster,
            root=curve.root,
            chunks=chunks,
            model=curve.model,
        )

    def _seconds(self, chunks: int, channels: int, nbytes: float) -> float:
        if self.formula:
            return self.by_formula(chunks).seconds(nbytes)
        return self.simulation(chunks, channels).makespan(nbytes)

    def _least(self, chunks: int, channels: int) -> Least:
        return least(self.simulation(chunks, channels))

    def lines(self, chunks: int, channels: int, sure: bool = False) -> _Lines:
        """Return the lower bound of a variant; see :meth:`Variant.lines`."""
        if self.formula:
            start = self.seconds(chunks, channels, 0.0)
            far = self.seconds(chunks, channels, _FAR)
            return [(start, max(0.0, far - start) / _FAR)]
        if chunks > 4 and not sure and self.free:
            one, two, four = (self.least(c, channels) for c in (1, 2, 4))
            found = one.stretched(two, four, chunks)
            if found is not None:
                return found.lines()
        return self.least(chunks, channels).lines()

    def possible(self) -> Iterator[Variant]:
        """Yield the variants, unless they are not too large to be simulated.

        Raises
        ------
        TooLargeError
            If the first already is.
        """
        for i, variant in enumerate(self.variants):
            try:
                variant.lines()
            except TooLargeError:
                if i == 0:
                    raise
                continue
            yield variant
