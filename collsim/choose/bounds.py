"""Lower bounds of one algorithm in every number of chunks and channels, each told once."""

from collections.abc import Callable
from functools import cache
from typing import Final

from collsim.engine.least import Least, least
from collsim.engine.simulation import Simulation

__all__ = ["SURE", "Bounds", "Lines", "highest"]

# Lines of seconds at 0 and per byte; the greatest of them counts.
Lines = list[tuple[float, float]]

# Bounds of more chunks than these are told from theirs.
_TOLD: Final = 4
# A bound that is above a time by less is not trusted to be so: both are sums of floats.
SURE: Final = 1e-9
_ROUNDED: Final = 1e-13


class Bounds:
    """Lower bounds, found without a run of the whole.

    Parameters
    ----------
    simulation : callable
        ``(chunks, channels) -> Simulation``.

    Examples
    --------
    In more chunks a message of the ring waits for more start-ups:

    >>> from collsim.algorithms import build
    >>> from collsim.core.cluster import Cluster
    >>> cluster = Cluster.ideal(4, alpha=1.0, bandwidth=1.0)
    >>> bounds = Bounds(lambda c, k: Simulation(build("broadcast", "ring", 4, 0, c), cluster))
    >>> highest(bounds.from_chunks(8, 1), 0.0), highest(bounds.from_chunks(16, 1), 0.0)
    (8.0, 16.0)
    """

    def __init__(self, simulation: Callable[[int, int], Simulation]) -> None:
        self.own = cache(lambda chunks, channels: least(simulation(chunks, channels)))
        self.lines = cache(self._lines)
        self.any_chunks = cache(self._any_chunks)
        self.from_chunks = cache(self._from_chunks)
        self._told = cache(self._is_told)

    def _lines(self, chunks: int, channels: int) -> Lines:
        """Return what holds for so many chunks."""
        return self.own(chunks, channels).lines()

    def _any_chunks(self, channels: int) -> Lines:
        """Return what holds for any number of chunks."""
        return self.own(1, channels).for_any_chunks().lines()

    def _from_chunks(self, chunks: int, channels: int) -> Lines:
        """Return what holds for so many chunks and more; nothing where few do not tell."""
        if chunks <= _TOLD or not self._told(channels):
            return []
        one, two, four = self._few(channels)
        found = one.stretched(two, four, chunks)
        return [] if found is None else found.lines()

    def _is_told(self, channels: int) -> bool:
        one, two, four = self._few(channels)
        # With more chunks there must be no fewer start-ups, or less would hold for more. Both
        # are sums of floats: what they are off by counts as often as there are chunks.
        more = two.at >= one.at * (1 - _ROUNDED)
        return one.stretched(two, four, 2) is not None and bool(more.all())

    def _few(self, channels: int) -> tuple[Least, Least, Least]:
        return self.own(1, channels), self.own(2, channels), self.own(4, channels)


def highest(lines: Lines, nbytes: float) -> float:
    """Return the greatest of some lines at a size; 0 if there is none.

    Examples
    --------
    >>> highest([(3.0, 0.0), (0.0, 0.5)], 10), highest([], 10)
    (5.0, 0.0)
    """
    return max((at + slope * nbytes for at, slope in lines), default=0.0)
