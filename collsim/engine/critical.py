"""The critical path of a timeline, and where its time goes.

From the last operation back: a message that started when its data came continues with
the operation that brought them. One that was held up by an earlier message of the same
sender or receiver continues with that message, whose start-up and bytes count. One that
was held up by other ranks' messages on a shared link, or by those of another job, was
*waiting*, and continues with the data it had. One that stood ready before both its ranks
had entered was waiting for the later of them since the launch, and the path begins there.

Under fair sharing every message starts when its data are there, and takes longer where it
shares links: what it takes beyond its time alone is waiting, whoever it shared them with.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown, Step
from collsim.engine.lower import Plan

__all__ = ["Floats", "Ints", "critical_path"]

# What the two event loops return: lists, or arrays where compiled.
Floats = list[float] | NDArray[np.float64]
Ints = list[int] | NDArray[np.int32]


def critical_path(
    schedule: Schedule,
    plan: Plan,
    start: Floats,
    finish: Floats,
    blocker: Ints,
    ahead: Ints,
    last: int,
    shared: bool = False,
    in_common: Callable[[int, int], bool] | None = None,
) -> tuple[Breakdown, tuple[Step, ...]]:
    """Walk back from the last operation.

    Parameters
    ----------
    schedule, plan
        What was run: the plan with the costs of its size.
    start, finish, blocker, ahead
        What the event loop returned; operations of other jobs are below -1.
    last : int
        The operation that ends last.
    shared : bool
        Whether links were shared fairly.
    in_common : callable, optional
        ``(operation, the one in its way) -> bool``: whether both have their sender or their
        receiver in common; by default as the schedule says.

    Returns
    -------
    Breakdown, tuple of Step
        The parts sum to ``finish[last]`` and the launch; steps count from the call on.
    """
    alpha = beta = gamma = waiting = 0.0
    steps: list[Step] = []
    # Of few entries one by one, a memory view reads each in a third of the time of an array.
    start, finish, blocker, ahead = map(_viewed, (start, finish, blocker, ahead))
    routes, sizes, alphas, betas, busy, adding, enter = (
        _viewed(column)
        for column in (
            plan.route, plan.size, plan.alpha, plan.beta, plan.busy, plan.adding, plan.enter
        )
    )  # fmt: skip

    def step(o: int, why: str, waited: float = 0.0) -> None:
        begin, end = plan.launch + start[o], plan.launch + finish[o]
        steps.append(Step(o, begin, end, why, waited))

    o = last
    until = finish[o]
    while o >= 0:
        q = routes[o]
        size = sizes[o]
        begin = start[o]
        arrival = begin + (alphas[q] + size * betas[q])
        if until > arrival and ahead[o] >= 0 and until == finish[o]:
            # Held up by the reduction just before its own at the same receiver.
            own = size * adding[q]
            gamma += own
            step(o, "reduction")
            o = ahead[o]
            until = finish[o]
            continue
        late = other = 0.0
        if shared:
            own = size * adding[q] if plan.reduces[o] else 0.0
            late = max(until - own - arrival, 0.0)
            arrival = until - own
        if until > arrival:
            # Beyond its own reduction, it waited for those of another job.
            other = until - arrival - size * adding[q] if ahead[o] < -1 else 0.0
            gamma += until - arrival - other
            until = arrival
        # Until its arrival the message counts whole; until it let go of a port, what it held.
        startup = min(alphas[q] if until == arrival else busy[q], until - begin)
        alpha += startup
        beta += until - begin - late - startup
        ready, cause = _data(schedule, finish, o)
        late_rank = enter[q] > ready
        holder = blocker[o]
        if holder != -1:
            why = _held(schedule, o, holder, in_common)
        elif late_rank:
            why = "late rank"
        else:
            why = "data" if cause >= 0 else "start"
        if why == "rank" or late_rank:
            # The time until it began is that of the message in its way, or nobody's.
            ready, cause = (begin, holder) if why == "rank" else (0.0, -1)
        waited = late + other + (begin - ready)
        waiting += waited
        step(o, why, waited)
        until, o = ready, cause
    return Breakdown(alpha, beta, gamma, plan.launch, waiting), tuple(reversed(steps))


def _viewed(values: Any) -> Any:
    """Return a list as it is, and an array as a view of its memory."""
    return values if isinstance(values, list) else memoryview(values)


def _data(schedule: Schedule, finish: Floats, o: int) -> tuple[float, int]:
    """Return when the data of an operation are there, and which one brought the last."""
    ready, cause = 0.0, -1
    for d in schedule.waits_for(o).tolist():
        if cause < 0 or finish[d] > ready:
            ready, cause = finish[d], d
    return ready, cause


def _held(
    schedule: Schedule, o: int, holder: int, in_common: Callable[[int, int], bool] | None
) -> str:
    """Return what held up an operation that another one was in the way of."""
    if holder < -1:
        return "job"
    if in_common is not None:
        return "rank" if in_common(o, holder) else "link"
    src, dst = schedule.src, schedule.dst
    return "rank" if src[holder] == src[o] or dst[holder] == dst[o] else "link"
