"""The critical path of a timeline, and where its time goes.

From the last operation back: a message that started when its data came continues with
the operation that brought them. One that was held up by an earlier message of the same
sender or receiver continues with that message, whose start-up and bytes count. One that
was held up by other ranks' messages on a shared link was *waiting*, and continues with
the data it had.

Under fair sharing every message starts when its data are there, and takes longer where it
shares links: what it takes beyond its time alone is waiting, whoever it shared them with.
"""

import numpy as np
from numpy.typing import NDArray

from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown, Step
from collsim.engine.lower import Plan

__all__ = ["critical_path"]

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
) -> tuple[Breakdown, tuple[Step, ...]]:
    """Walk back from the last operation.

    Parameters
    ----------
    schedule, plan
        What was run: the plan with the costs of its size.
    start, finish, blocker, ahead
        What the event loop returned.
    last : int
        The operation that ends last.
    shared : bool
        Whether links were shared fairly.

    Returns
    -------
    Breakdown, tuple of Step
        The parts sum to ``finish[last]`` and the launch; steps count from the call on.
    """
    alpha = beta = gamma = waiting = 0.0
    steps: list[Step] = []

    def step(o: int, why: str) -> None:
        steps.append(
            Step(o, plan.launch + float(start[o]), plan.launch + float(finish[o]), why)
        )

    o = last
    until = float(finish[o])
    while o >= 0:
        q = int(plan.route[o])
        size = float(plan.size[o])
        begin = float(start[o])
        arrival = begin + (float(plan.alpha[q]) + size * float(plan.beta[q]))
        if until > arrival and ahead[o] >= 0 and until == finish[o]:
            # Held up by the reduction just before its own at the same receiver.
            own = size * plan.gamma
            gamma += own
            step(o, "reduction")
            o = int(ahead[o])
            until = float(finish[o])
            continue
        late = 0.0
        if shared:
            own = size * plan.gamma if plan.reduces[o] else 0.0
            late = max(until - own - arrival, 0.0)
            waiting += late
            arrival = until - own
        if until > arrival:
            gamma += until - arrival
            until = arrival
        # Until its arrival the message counts whole; until it let go of a port, what it held.
        startup = min(
            float(plan.alpha[q]) if until == arrival else float(plan.busy[q]), until - begin
        )
        alpha += startup
        beta += until - begin - late - startup
        ready = 0.0
        cause = -1
        for d in schedule.waits_for(o):
            if cause < 0 or finish[d] > ready:
                ready, cause = float(finish[d]), int(d)
        holder = int(blocker[o])
        if holder >= 0:
            same = (
                schedule.src[holder] == schedule.src[o]
                or schedule.dst[holder] == schedule.dst[o]
            )
            step(o, "rank" if same else "link")
            if same:
                until, o = begin, holder
                continue
            waiting += begin - ready
        else:
            step(o, "data" if cause >= 0 else "start")
        until, o = ready, cause
    return Breakdown(alpha, beta, gamma, plan.launch, waiting), tuple(reversed(steps))
