"""Simulate a schedule on a cluster: when does everything start and end, and why."""

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown, Timeline
from collsim.engine import fair
from collsim.engine.critical import critical_path
from collsim.engine.fair import FairLoop
from collsim.engine.loop import Loop
from collsim.engine.lower import lower
from collsim.errors import InputError

if TYPE_CHECKING:
    from collsim.engine.compiled import CompiledLoop

__all__ = ["COMPILE_FROM", "Simulation", "check_nbytes", "check_sharing", "simulate"]

# Operations from which loading the compiled loop (about 0.6 s) is repaid by one run.
COMPILE_FROM: Final = 200_000


class Simulation:
    """A schedule on a cluster, prepared once and run at any number of sizes.

    Parameters
    ----------
    schedule : Schedule
        What to run.
    cluster : Cluster
        Where; of the same rank count.
    compiled : bool, optional
        Whether to use the compiled loop; by default for large schedules only. The
        results are the same to the last bit.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> cluster = Cluster.ideal(4, alpha=1e-6, bandwidth=1e9)
    >>> simulation = Simulation(build("broadcast", "mst", 4), cluster)
    >>> round(simulation.run(1000).makespan_us, 6)
    4.0
    """

    def __init__(
        self, schedule: Schedule, cluster: Cluster, compiled: bool | None = None
    ) -> None:
        self.schedule = schedule
        self.cluster = cluster
        self.plan = lower(schedule, cluster)
        self.fair = check_sharing(cluster.sharing) == "fair"
        if compiled is None:
            compiled = len(schedule) >= (fair.COMPILE_FROM if self.fair else COMPILE_FROM)
        self.compiled = compiled
        self.loop = self._loop()

    def _loop(self) -> "Loop | CompiledLoop | FairLoop":
        if self.fair:
            return FairLoop(self.plan, self.compiled)
        if not self.compiled:
            return Loop(self.plan)
        from collsim.engine.compiled import CompiledLoop

        return CompiledLoop(self.plan)

    def makespan(self, nbytes: float) -> float:
        """Return the time in seconds at a size in bytes."""
        if not len(self.schedule):
            return self.plan.launch
        finish = self.loop.run(check_nbytes(nbytes))[1]
        last = max(finish) if isinstance(finish, list) else finish.max()
        return self.plan.launch + float(last)

    def run(self, nbytes: float) -> Timeline:
        """Return the timeline at a size in bytes."""
        nbytes = check_nbytes(nbytes)
        start, finish, blocker, ahead = self.loop.run(nbytes)
        # The loop counts from the end of the launch; see Plan.at for why.
        starts = self.plan.launch + np.asarray(start, dtype=np.float64)
        ends = self.plan.launch + np.asarray(finish, dtype=np.float64)
        if ends.size:
            last = int(ends.argmax())
            makespan = float(ends[last])
            loop = self.loop
            plan = loop.costs(nbytes) if isinstance(loop, FairLoop) else self.plan.at(nbytes)
            breakdown, path = critical_path(
                self.schedule, plan, start, finish, blocker, ahead, last, shared=self.fair
            )
        else:
            makespan, breakdown, path = self.plan.launch, Breakdown(launch=self.plan.launch), ()
        starts.flags.writeable = ends.flags.writeable = False
        return Timeline(self.schedule, nbytes, starts, ends, makespan, breakdown, path)


def simulate(schedule: Schedule, cluster: Cluster, nbytes: float) -> Timeline:
    """Simulate a schedule once; a pure function of its arguments.

    Parameters
    ----------
    schedule : Schedule
        What to run.
    cluster : Cluster
        Where; of the same rank count.
    nbytes : float
        Size of the buffer, n, in bytes: a real number, 0 or more.

    Returns
    -------
    Timeline
        Start and finish of every operation, makespan and critical path.

    Raises
    ------
    InputError
        If the rank counts differ, or the size is negative or not finite.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> timeline = simulate(build("broadcast", "mst", 8), cluster, 1024)
    >>> timeline.rounds, timeline.operations, round(timeline.makespan_us, 4)
    (3, 7, 30.0034)
    """
    return Simulation(schedule, cluster).run(nbytes)


def check_sharing(sharing: str) -> str:
    """Return how links are shared, or raise InputError if there is no such way."""
    if sharing not in {"fifo", "fair"}:
        raise InputError(f"sharing: got {sharing!r}, expected fifo or fair")
    return sharing


def check_nbytes(nbytes: float) -> float:
    """Return the size, or raise InputError if it is negative or not finite."""
    if not (math.isfinite(nbytes) and nbytes >= 0):
        raise InputError(f"size: got {nbytes!r} bytes, expected 0 or more and finite")
    return float(nbytes)
