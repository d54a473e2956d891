"""A schedule on a cluster, prepared for runs at many sizes; and timelines of what ran."""

import math
import sys
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Final

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown, Timeline
from collsim.engine import fair
from collsim.engine.critical import Floats, Ints, critical_path
from collsim.engine.fair import FairLoop
from collsim.engine.loop import Loop
from collsim.engine.lower import Plan, lower
from collsim.errors import InputError
from collsim.units import parse_size

if TYPE_CHECKING:
    from collsim.engine.compiled import CompiledLoop

    AnyLoop = Loop | CompiledLoop | FairLoop

__all__ = [
    "COMPILE_FROM",
    "Outcome",
    "Simulation",
    "check_nbytes",
    "check_sharing",
    "costs_of",
    "large",
    "load",
    "loop_of",
    "repays_loading",
    "timeline",
]

# Start, finish, blocker and ahead of every operation, as the loops return them.
Outcome = tuple[Floats, Floats, Ints, Ints]

# Operations from which loading the compiled loop (about 0.6 s) is repaid by one run.
COMPILE_FROM: Final = 200_000
# The same where it is there already.
LOADED_FROM: Final = 500
# Far beyond any data; near the largest float the times that follow from it are none.
_MOST_BYTES: Final = 1e300


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
            compiled = large(len(schedule), self.fair)
        self.compiled = compiled
        self.loop = loop_of(self.plan, self.fair, compiled)
        self.entered = 0.0 if cluster.delay is None else float(cluster.delay.max())

    def makespan(self, nbytes: float) -> float:
        """Return the time in seconds at a size in bytes."""
        if not len(self.schedule):
            return self.run(nbytes).makespan
        nbytes = check_nbytes(nbytes)
        return self.ends(nbytes, self.loop.run(nbytes))

    def ends(self, nbytes: float, outcome: Outcome) -> float:
        """Return the time in seconds of what the loop has found at a size in bytes."""
        finish = outcome[1]
        last = float(max(finish) if isinstance(finish, list) else finish.max())
        if last < self.entered:
            last = max(last, costs_of(self.loop, nbytes).rounded(self.entered))
        return self.plan.launch + last

    def run(self, nbytes: float, outcome: Outcome | None = None) -> Timeline:
        """Return the timeline at a size in bytes, of what the loop has found there if given."""
        nbytes = check_nbytes(nbytes)
        if outcome is None:
            outcome = self.loop.run(nbytes)
        plan = costs_of(self.loop, nbytes)
        entered = plan.rounded(self.entered)
        return timeline(self.schedule, nbytes, plan, outcome, entered, shared=self.fair)

    def timed(self, nbytes: float, outcome: Outcome | None = None) -> tuple[float, Breakdown]:
        """Return the time in seconds at a size in bytes, and where it goes."""
        found = self.run(nbytes, outcome)
        return found.makespan, found.breakdown


def large(operations: int, fair_sharing: bool) -> bool:
    """Return whether so many operations repay loading the compiled loop."""
    if loaded():
        return operations >= LOADED_FROM
    return repays_loading(operations, fair_sharing)


def repays_loading(operations: int, fair_sharing: bool) -> bool:
    """Return whether so many operations, in one run or many, repay loading the loop."""
    return operations >= (fair.COMPILE_FROM if fair_sharing else COMPILE_FROM)


def load(fair_sharing: bool) -> None:
    """Load the compiled loops, for whoever is about to run many schedules."""
    import collsim.engine.compiled

    if fair_sharing:
        import collsim.engine.fair_compiled  # noqa: F401


def loaded() -> bool:
    """Return whether the compiled loops are there already."""
    return "collsim.engine.compiled" in sys.modules


def loop_of(plan: Plan, fair_sharing: bool, compiled: bool) -> "AnyLoop":
    """Return the loop that runs a plan."""
    if fair_sharing:
        return FairLoop(plan, compiled, plan.enter[plan.route])
    if not compiled:
        return Loop(plan)
    from collsim.engine.compiled import CompiledLoop

    return CompiledLoop(plan)


def costs_of(loop: "AnyLoop", nbytes: float) -> Plan:
    """Return the costs with which a loop runs its plan at a size."""
    return loop.costs(nbytes) if isinstance(loop, FairLoop) else loop.plan.at(nbytes)


def timeline(
    schedule: Schedule,
    nbytes: float,
    plan: Plan,
    outcome: Outcome,
    entered: float,
    shared: bool,
    in_common: Callable[[int, int], bool] | None = None,
) -> Timeline:
    """Return the timeline of what a loop has found.

    Parameters
    ----------
    schedule, nbytes
        What was run.
    plan : Plan
        Its costs.
    outcome : tuple
        Start, finish, blocker and ahead of every operation, from the end of the launch.
    entered : float
        Seconds after the launch at which the last rank enters; nobody is done before.
    shared : bool
        Whether links were shared fairly.
    in_common : callable, optional
        See :func:`~collsim.engine.critical.critical_path`.
    """
    start, finish, blocker, ahead = outcome
    # The loop counts from the end of the launch; see Plan.at for why.
    starts, ends = (np.asarray(times, dtype=np.float64) for times in (start, finish))
    if plan.launch:
        starts, ends = plan.launch + starts, plan.launch + ends
    # Of an array that can't be written numpy first makes a copy.
    last = int(ends.argmax()) if ends.size else -1
    starts.flags.writeable = ends.flags.writeable = False
    if last < 0 or finish[last] < entered:
        parts = Breakdown(launch=plan.launch, waiting=entered)
        return Timeline(schedule, nbytes, starts, ends, plan.launch + entered, parts, ())
    parts, path = critical_path(
        schedule, plan, start, finish, blocker, ahead, last, shared, in_common
    )
    return Timeline(schedule, nbytes, starts, ends, float(ends[last]), parts, path)


def check_sharing(sharing: str) -> str:
    """Return how links are shared, or raise InputError if there is no such way."""
    if sharing not in {"fifo", "fair"}:
        raise InputError(f"sharing: got {sharing!r}, expected fifo or fair")
    return sharing


def check_nbytes(nbytes: object) -> float:
    """Return the size in bytes, or raise InputError if it is none, negative or not finite.

    Examples
    --------
    >>> check_nbytes(1.5), check_nbytes("1MiB")
    (1.5, 1048576.0)
    """
    if isinstance(nbytes, str):
        return float(parse_size(nbytes))
    if not isinstance(nbytes, int | float | Real):
        raise InputError(f"size: got {nbytes!r}, expected bytes, or text such as '64MiB'")
    try:
        value = float(nbytes)
    except OverflowError:  # Python's whole numbers may be larger than any float.
        value = math.inf
    if not 0 <= value <= _MOST_BYTES:
        raise InputError(
            f"size: got {nbytes!r} bytes, expected 0 or more and finite, at most "
            f"{_MOST_BYTES:g}"
        )
    return value
