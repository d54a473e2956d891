"""The calls as a whole: how long each took, and its critical path."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.interop.chrome_trace._event import CALLS, members, named, slice_, ticks
from collsim.interop.chrome_trace._sent import Call

__all__ = ["call_events"]


def call_events(calls: list[Call], cluster: Cluster, first: int) -> Iterator[str]:
    """Yield a process of all calls, with two threads for each: the call, and its path.

    Parameters
    ----------
    calls : list of Call
        What was called.
    cluster : Cluster
        Where.
    first : int
        The number of the first thread.
    """
    yield from named("process", CALLS, None, f"collectives on {cluster.name}", CALLS)
    for number, call in enumerate(calls):
        title = f"job {number}: " * (len(calls) > 1) + call.timeline.schedule.collective.name
        tid = first + 2 * number
        yield from named("thread", CALLS, tid, title, tid)
        yield from named("thread", CALLS, tid + 1, f"{title}, critical path", tid + 1)
        yield from _whole(call, cluster, tid)
        yield from _path(call, tid + 1)


def _whole(call: Call, cluster: Cluster, tid: int) -> Iterator[str]:
    timeline, where = call.timeline, f'"pid":{CALLS},"tid":{tid}'
    parts = timeline.breakdown
    begin, launched, end = ticks(
        call.start + np.array([0.0, parts.launch, timeline.makespan])
    ).tolist()
    args = {
        "ranks": timeline.schedule.ranks,
        "bytes": timeline.nbytes,
        "rounds": timeline.rounds,
        "operations": timeline.operations,
        "sharing": cluster.sharing,
        "time_us": _us(timeline.makespan),
        **{
            f"{name}_us": _us(getattr(parts, name))
            for name in ("alpha", "beta", "gamma", "launch", "waiting")
        },
    }
    name = timeline.schedule.collective.name
    yield slice_(where, name, begin, end, members(args), "call")
    if launched > begin:
        yield slice_(where, "launch", begin, launched, cat="call")


def _us(seconds: float) -> float:
    return float(f"{seconds * 1e6:.9g}")


def _path(call: Call, tid: int) -> Iterator[str]:
    timeline, where = call.timeline, f'"pid":{CALLS},"tid":{tid}'
    steps = timeline.critical_path
    begin = ticks(call.start + np.array([step.start for step in steps])).tolist()
    end = ticks(call.start + np.array([step.finish for step in steps])).tolist()
    # A message whose port was free before its bytes were there overlaps the next one.
    for i, (_, after) in enumerate(pairwise(begin)):
        end[i] = max(begin[i], min(end[i], after))
    for step, first, last in zip(steps, begin, end, strict=True):
        src, dst = _ends(timeline, step.operation)
        args = {
            "operation": step.operation,
            "round": int(timeline.schedule.round[step.operation]) + 1,
            "held up by": "nothing" if step.why == "start" else step.why,
            "waiting_us": _us(step.waiting),
            "finish_us": _us(call.start + step.finish),
        }
        yield slice_(where, f"{src} to {dst}", first, last, members(args), "critical")


def _ends(timeline: Timeline, operation: int) -> tuple[str, str]:
    schedule = timeline.schedule
    return (
        schedule.party(int(schedule.src[operation])),
        schedule.party(int(schedule.dst[operation])),
    )
