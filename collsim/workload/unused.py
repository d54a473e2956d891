"""What of a workload has no effect on some ranks, so that nobody takes it for done."""

from collections.abc import Iterable, Iterator

from collsim.core.workload import Workload
from collsim.nccl.families import FAMILIES
from collsim.workload.layout import Layout
from collsim.workload.parts import Call

__all__ = ["unused"]


def unused(work: Workload, found: Layout, calls: Iterable[Call]) -> Iterator[str]:
    """Yield calls of groups of one rank, and algorithms of what nobody calls.

    Parameters
    ----------
    work : Workload
        What was asked for.
    found : Layout
        The groups of the ranks.
    calls : iterable of Call
        What the step has.

    Examples
    --------
    >>> from collsim.core.workload import Compute
    >>> from collsim.workload.layout import layout
    >>> work = Workload("w", Compute(), algorithms={"data.broadcast": "ring"})
    >>> list(unused(work, layout(work.parallel, 2), [Call("data", "all_gather", 8.0, "p")]))
    ['[algorithms] data.broadcast = ring: the step has no such call']
    """
    for given in work.given:
        if found.size(given.group) == 1:
            yield (
                f"left out {given.count} {given.collective} of {given.name}: groups of "
                f"{given.group} are of 1 rank here"
            )
    used: set[str] = set()
    for call in calls:
        own = f"{call.kind}.{call.collective}"
        used.add(own if own in work.algorithms else call.kind)
    for key, name in work.algorithms.items():
        if key not in used and name not in FAMILIES:
            yield f"[algorithms] {key} = {name}: the step has no such call"
