"""Simulations of one algorithm at several chunk counts, each prepared once."""

from collections.abc import Callable

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.engine.simulate import COMPILE_FROM, Simulation

__all__ = ["Prepared"]


class Prepared:
    """Builds a schedule when its chunk count is first asked for, and keeps it.

    Parameters
    ----------
    cluster : Cluster
        Where they run.
    build : callable
        ``chunks -> Schedule``.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> cluster = Cluster.ideal(4, "1us", "1GB/s")
    >>> prepared = Prepared(cluster, lambda c: build("broadcast", "ring", 4, chunks=c))
    >>> len(prepared.schedule(2)), prepared.simulation(2) is prepared.simulation(2)
    (6, True)
    """

    def __init__(self, cluster: Cluster, build: Callable[[int], Schedule]) -> None:
        self.cluster = cluster
        self.build = build
        self._simulations: dict[int, Simulation] = {}
        self._work = 0

    def schedule(self, chunks: int) -> Schedule:
        """Return the schedule at a chunk count."""
        if chunks in self._simulations:
            return self._simulations[chunks].schedule
        return self.build(chunks)

    def simulation(self, chunks: int) -> Simulation:
        """Return the prepared simulation at a chunk count, for one run."""
        if chunks not in self._simulations:
            self._simulations[chunks] = Simulation(self.schedule(chunks), self.cluster)
        found = self._simulations[chunks]
        self._work += len(found.schedule)
        if self._work >= COMPILE_FROM and not found.compiled:
            # Many small runs repay the compiled loop as one large run does.
            found = Simulation(found.schedule, self.cluster, compiled=True)
            self._simulations[chunks] = found
        return found
