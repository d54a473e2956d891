"""Simulations of one algorithm in several chunks and channels, each prepared once."""

from collections.abc import Callable

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.engine.simulation import Simulation, large, repays_loading

__all__ = ["Prepared"]


class Prepared:
    """Builds a schedule when its chunks and channels are first asked for, and keeps it.

    Parameters
    ----------
    cluster : Cluster
        Where they run.
    build : callable
        ``(chunks, channels) -> Schedule``.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> cluster = Cluster.ideal(4, "1us", "1GB/s")
    >>> prepared = Prepared(cluster, lambda c, _: build("broadcast", "ring", 4, 0, c))
    >>> len(prepared.schedule(2)), prepared.simulation(2) is prepared.simulation(2)
    (6, True)
    """

    def __init__(self, cluster: Cluster, build: Callable[[int, int], Schedule]) -> None:
        self.cluster = cluster
        self.build = build
        self._simulations: dict[tuple[int, int], Simulation] = {}
        self._work = 0

    def schedule(self, chunks: int, channels: int = 1) -> Schedule:
        """Return the schedule in so many chunks and channels."""
        found = self._simulations.get((chunks, channels))
        return self.build(chunks, channels) if found is None else found.schedule

    def simulation(self, chunks: int, channels: int = 1) -> Simulation:
        """Return the prepared simulation in so many chunks and channels, for one run."""
        key = chunks, channels
        if key not in self._simulations:
            self._simulations[key] = Simulation(self.schedule(*key), self.cluster)
        found = self._simulations[key]
        self._work += len(found.schedule)
        if not found.compiled and (
            # Many small runs repay the compiled loop as one large run does; and another
            # may have loaded it since this one was prepared.
            repays_loading(self._work, found.fair) or large(len(found.schedule), found.fair)
        ):
            found = Simulation(found.schedule, self.cluster, compiled=True)
            self._simulations[key] = found
        return found
