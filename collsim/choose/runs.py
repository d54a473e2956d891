"""Runs of one algorithm at one size, in the numbers of chunks and channels that are tried.

None is made twice, and none is made that a lower bound shows to be no better than what was
found before.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

from collsim.choose.bounds import SURE, Bounds, highest
from collsim.core.timeline import Breakdown
from collsim.engine.chunks import fastest_channels
from collsim.engine.simulation import Outcome, Simulation
from collsim.errors import TooLargeError

__all__ = ["Runs", "best_channels"]

# Of times that are equal but for rounding the first counts, so a bound has to be above both.
_CLEARLY: Final = 1 + 2 * SURE


class Runs:
    """Times of one algorithm at one size.

    Parameters
    ----------
    nbytes : float
        Size of the buffer, n, in bytes.
    simulation : callable
        ``(chunks, channels) -> Simulation``.
    """

    def __init__(self, nbytes: float, simulation: Callable[[int, int], Simulation]) -> None:
        self.nbytes = nbytes
        self._simulation = simulation
        self._seconds: dict[tuple[int, int], float] = {}
        # Of the fastest so far: what ran, and what came of it.
        self._kept: tuple[tuple[int, int], Simulation, Outcome] | None = None
        self._least = math.inf

    def seconds(self, chunks: int, channels: int) -> float:
        """Return the time in seconds in so many chunks and channels."""
        key = chunks, channels
        if key not in self._seconds:
            simulation = self._simulation(chunks, channels)
            if len(simulation.schedule):
                outcome = simulation.loop.run(self.nbytes)
                found = simulation.ends(self.nbytes, outcome)
                if found < self._least:
                    self._least, self._kept = found, (key, simulation, outcome)
            else:
                found = simulation.makespan(self.nbytes)
            self._seconds[key] = found
        return self._seconds[key]

    def timed(self, chunks: int, channels: int) -> tuple[float, Breakdown]:
        """Return the time in so many chunks and channels, and where it goes."""
        if self._kept is not None and self._kept[0] == (chunks, channels):
            _, simulation, outcome = self._kept
            return simulation.timed(self.nbytes, outcome)
        return self._simulation(chunks, channels).timed(self.nbytes)


def best_channels(
    possible: Sequence[int],
    nbytes: float,
    bounds: Bounds,
    floor: Callable[[int], float],
    chunks_in: Callable[[int, Callable[[int], float]], int],
    seconds: Callable[[int, int], float],
) -> tuple[int, int]:
    """Return the fastest numbers of chunks and channels; the first of equals.

    As :func:`collsim.engine.chunks.fastest_channels` finds them, but those of the lowest
    bound are tried first, and what the bounds exclude is left out.

    Parameters
    ----------
    possible : sequence of int
        Numbers of channels.
    nbytes : float
        Size of the buffer, n, in bytes.
    bounds : Bounds
        Of the algorithm.
    floor : callable
        ``channels -> float``: a time in seconds that no number of chunks is below.
    chunks_in : callable
        ``(channels, floor of so many chunks and more) -> int``: the best number of chunks.
    seconds : callable
        ``(chunks, channels) -> float``: the time at this size.
    """
    chosen: dict[int, int] = {}
    least = math.inf

    def tried(channels: int) -> float:
        def excluded(chunks: int) -> float:
            bound = highest(bounds.from_chunks(chunks, channels), nbytes) * (1 - SURE)
            return math.inf if bound > least * _CLEARLY else bound

        if channels not in chosen:
            chosen[channels] = chunks_in(channels, excluded)
        return seconds(chosen[channels], channels)

    if len(possible) > 1:
        floors: list[tuple[float, int]] = []
        for place, channels in enumerate(possible):
            try:
                floors.append((floor(channels), place))
            except TooLargeError:
                if not place:
                    raise
        for bound, place in sorted(floors):
            if bound <= least * _CLEARLY:
                try:
                    least = min(least, tried(possible[place]))
                except TooLargeError:
                    if not place:
                        raise
        possible = [channels for channels in possible if channels in chosen]
    channels, _ = fastest_channels(possible, tried)
    return chosen[channels], channels
