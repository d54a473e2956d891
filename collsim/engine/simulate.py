"""Simulate on a cluster: when does everything start and end, and why."""

from collections.abc import Iterable
from typing import overload

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.core.timeline import Timeline
from collsim.engine.simulation import COMPILE_FROM, Simulation, check_nbytes
from collsim.engine.together import Job, Together, simulate_together
from collsim.errors import InputError

__all__ = [
    "COMPILE_FROM",
    "Job",
    "Simulation",
    "Together",
    "check_nbytes",
    "simulate",
]


@overload
def simulate(schedule: Schedule, cluster: Cluster, nbytes: float | str) -> Timeline: ...
@overload
def simulate(schedule: Iterable[Job], cluster: Cluster) -> Together: ...
@checked
def simulate(
    schedule: Schedule | Iterable[Job], cluster: Cluster, nbytes: float | str | None = None
) -> Timeline | Together:
    """Simulate one schedule, or several jobs together; a pure function of its arguments.

    Parameters
    ----------
    schedule : Schedule or iterable of Job
        What to run.
    cluster : Cluster
        Where; of the same rank count as a schedule, or of the ranks that the jobs name.
    nbytes : float or str
        Size of the schedule's buffer, n, in bytes: a real number, 0 or more, or text such as
        ``"64MiB"``. Jobs have their own.

    Returns
    -------
    Timeline or Together
        Start and finish of every operation, makespan and critical path; for jobs, of
        each of them.

    Raises
    ------
    InputError
        If the rank counts differ, the size is negative or not finite, or a job names
        ranks that the cluster has not.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> timeline = simulate(build("broadcast", "mst", 8), cluster, 1024)
    >>> timeline.rounds, timeline.operations, round(timeline.makespan_us, 4)
    (3, 7, 30.0034)
    """
    if isinstance(schedule, Schedule):
        if nbytes is None:
            raise InputError("nbytes: missing, expected the size of the buffer in bytes")
        return Simulation(schedule, cluster).run(check_nbytes(nbytes))
    if nbytes is not None:
        raise InputError(f"nbytes: got {nbytes!r}, but each job has its own")
    return simulate_together(schedule, cluster)
