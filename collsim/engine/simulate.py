"""Simulate a schedule on a cluster: when does everything start and end, and why."""

import math
from typing import Final

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown, Timeline
from collsim.engine.critical import critical_path
from collsim.engine.loop import Loop
from collsim.engine.lower import lower
from collsim.errors import InputError

__all__ = ["COMPILE_FROM", "Simulation", "check_nbytes", "simulate"]

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
        if compiled is None:
            compiled = len(schedule) >= COMPILE_FROM
        self.compiled = compiled
        if compiled:
            from collsim.engine.compiled import CompiledLoop

            self.loop: Loop | CompiledLoop = CompiledLoop(self.plan)
        else:
            self.loop = Loop(self.plan)

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
            breakdown, path = critical_path(
                self.schedule, self.plan.at(nbytes), start, finish, blocker, ahead, last
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


def check_nbytes(nbytes: float) -> float:
    """Return the size, or raise InputError if it is negative or not finite."""
    if not (math.isfinite(nbytes) and nbytes >= 0):
        raise InputError(f"size: got {nbytes!r} bytes, expected 0 or more and finite")
    return float(nbytes)
