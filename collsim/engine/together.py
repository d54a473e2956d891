"""Several collectives at once, each among its own ranks, on the links of one cluster."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.core.timeline import Timeline
from collsim.engine.lower import Plan, check_agents, lower_program
from collsim.engine.program import merged
from collsim.engine.simulation import (
    Outcome,
    check_nbytes,
    check_sharing,
    costs_of,
    large,
    loop_of,
    timeline,
)
from collsim.errors import InputError
from collsim.units import format_time

__all__ = ["Job", "Together", "simulate_together"]

IntArray = NDArray[np.int64]


@checked
@dataclass(frozen=True, eq=False)
class Job:
    """One collective of several: what, among whom, how much, and from when on.

    Parameters
    ----------
    schedule : Schedule
        What to run.
    ranks : sequence of int
        Rank of the cluster on which each rank of the schedule runs.
    nbytes : float or str
        Size of its buffer, n, in bytes, or text such as ``"64MiB"``; kept as a number.
    start : float
        Seconds at which it is called.

    Raises
    ------
    InputError
        If the schedule is none, there are not as many ranks as it has, one is named twice or
        negative, or a size or start is negative or not finite.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> Job(build("all_reduce", "ring", 2), [0, 0], 1024)
    Traceback (most recent call last):
    collsim.errors.InputError: job: rank 0 is named twice among the ranks
    """

    schedule: Schedule
    ranks: Sequence[int] | IntArray
    nbytes: float | str
    start: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.schedule, Schedule):
            raise InputError(
                f"job: schedule is {self.schedule!r}, expected a Schedule, as "
                'build("all_reduce", "ring", ranks) gives'
            )
        ranks = np.array(self.ranks)
        if ranks.ndim != 1 or not (ranks.size == 0 or np.issubdtype(ranks.dtype, np.integer)):
            raise InputError(f"job: ranks are {self.ranks!r}, expected a list of whole numbers")
        if ranks.size != self.schedule.ranks:
            raise InputError(
                f"job: {ranks.size} ranks, but its schedule is of {self.schedule.ranks}"
            )
        distinct, counts = np.unique(ranks, return_counts=True)
        if (counts > 1).any():
            raise InputError(
                f"job: rank {distinct[counts > 1][0]} is named twice among the ranks"
            )
        if ranks.min() < 0:
            raise InputError(f"job: got rank {ranks.min()}, expected 0 or more")
        if not 0 <= self.start <= sys.float_info.max:
            raise InputError(
                f"job: start is {self.start!r}, expected seconds, 0 or more and finite"
            )
        object.__setattr__(self, "nbytes", check_nbytes(self.nbytes))
        ranks = ranks.astype(np.int64)
        ranks.flags.writeable = False
        object.__setattr__(self, "ranks", ranks)


@dataclass(frozen=True, eq=False)
class Together:
    """What came of several jobs.

    Parameters
    ----------
    jobs : tuple of Job
        What was run.
    timelines : tuple of Timeline
        One per job, in seconds from the start of that job, as if it were alone. Ranks
        and operations are those of its schedule. Times for which messages of other jobs
        were in its way are waiting.
    """

    jobs: tuple[Job, ...]
    timelines: tuple[Timeline, ...]

    def __repr__(self) -> str:
        many = f"{len(self.jobs)} job{'s' * (len(self.jobs) != 1)}"
        return f"<Together: {many}, {format_time(self.makespan)}>"

    @property
    def ends(self) -> tuple[float, ...]:
        """Seconds at which each job is done, all on one clock."""
        pairs = zip(self.jobs, self.timelines, strict=True)
        return tuple(job.start + one.makespan for job, one in pairs)

    @property
    def makespan(self) -> float:
        """Seconds until the last job is done."""
        return max(self.ends)

    @property
    def makespan_us(self) -> float:
        """Makespan in microseconds."""
        return self.makespan * 1e6


def simulate_together(jobs: Iterable[Job], cluster: Cluster) -> Together:
    """Simulate several collectives that share the links, ports and reducers of a cluster.

    Each pays the launch once, from its own start. A rank may be in several jobs; its
    delay then counts from the start of each. Operations are in the order of their rounds,
    those of one round in the order of the jobs: at equal times the first rounds of all
    jobs go before the second ones, so that jobs take turns.

    Parameters
    ----------
    jobs : iterable of Job
        At least one.
    cluster : Cluster
        Where they run.

    Raises
    ------
    InputError
        If there is no job, or one names a rank that the cluster has not.

    Examples
    --------
    Two rings of four ranks, one inside each half of a node:

    >>> from collsim.algorithms import build
    >>> ring = build("all_gather", "ring", 4)
    >>> node = Cluster.load("dgx-h100")
    >>> jobs = [Job(ring, range(4), 2**20), Job(ring, range(4, 8), 2**20)]
    >>> [round(one.makespan_us, 6) for one in simulate_together(jobs, node).timelines]
    [11.947627, 11.947627]
    >>> round(simulate_together(jobs[:1], node).makespan_us, 6)
    11.947627
    """
    jobs = tuple(jobs)
    for number, job in enumerate(jobs):
        if not isinstance(job, Job):
            raise InputError(
                f"jobs[{number}]: got {job!r}, expected a Job, or a Schedule alone"
            )
    if not jobs:
        raise InputError("jobs: got none, expected at least one")
    ranks = [np.asarray(job.ranks) for job in jobs]
    for number, group in enumerate(ranks):
        if int(group.max()) >= cluster.ranks:
            raise InputError(
                f"jobs[{number}]: got rank {int(group.max())}, but cluster {cluster.name!r} "
                f"has ranks 0 to {cluster.ranks - 1}"
            )
    schedules = [job.schedule for job in jobs]
    # Switches that take part are numbered after the ranks of the cluster.
    agents = [check_agents(s, cluster, r) for s, r in zip(schedules, ranks, strict=True)]
    parties = [
        np.concatenate([group, cluster.ranks + node])
        for group, node in zip(ranks, agents, strict=True)
    ]
    program, places = merged(
        schedules, parties, [float(job.nbytes) for job in jobs], [job.start for job in jobs]
    )
    plan = lower_program(program, cluster)
    fair = check_sharing(cluster.sharing) == "fair"
    # The pieces of a program are in bytes already.
    loop = loop_of(plan, fair, large(program.src.size, fair))
    outcome, costs = loop.run(1.0), costs_of(loop, 1.0)
    delay = np.zeros(cluster.ranks) if cluster.delay is None else cluster.delay
    timelines = []
    for job, group, place in zip(jobs, ranks, places, strict=True):
        start = costs.rounded(job.start)
        own, found = _part(costs, outcome, place, start)
        entered = costs.rounded(job.start + float(delay[group].max())) - start
        timelines.append(
            timeline(job.schedule, float(job.nbytes), own, found, entered, shared=fair)
        )
    return Together(jobs, tuple(timelines))


def _part(costs: Plan, outcome: Outcome, place: IntArray, start: float) -> tuple[Plan, Outcome]:
    """Return costs and outcome of one job, counted from its start."""
    begins, ends = (np.asarray(column, dtype=np.float64) for column in outcome[:2])
    blocker, ahead = (np.asarray(column, dtype=np.int64) for column in outcome[2:])
    # Operations of other jobs are told apart from none, which is -1.
    number = np.full(begins.size + 1, -2)
    number[place] = np.arange(place.size)
    number[-1] = -1
    own = replace(
        costs,
        size=costs.size[place],
        route=costs.route[place],
        reduces=costs.reduces[place],
        enter=costs.enter - start,
    )
    found = (
        begins[place] - start,
        ends[place] - start,
        number[blocker[place]].astype(np.int32),
        number[ahead[place]].astype(np.int32),
    )
    return own, found
