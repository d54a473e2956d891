"""Whether two schedules are the same."""

from dataclasses import fields

import numpy as np

from collsim.core.schedule import Schedule

__all__ = ["difference"]


def difference(first: Schedule, second: Schedule) -> str | None:
    """Return where two schedules differ first, or None where they are equal.

    Equal are the collective, ranks, root and places, and of every operation sender, receiver,
    kind, channel, round, what it carries to which places, and what it waits for.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> ring = build("broadcast", "ring", 4)
    >>> difference(ring, build("broadcast", "ring", 4)) is None
    True
    >>> difference(ring, build("broadcast", "mst", 4))
    'operation 1: src is 1 in one and 0 in the other'
    """
    for name in ("ranks", "root", "parts", "scratch", "agents"):
        mine, theirs = getattr(first, name), getattr(second, name)
        if mine != theirs:
            return f"{name} is {mine} in one and {theirs} in the other"
    if first.collective.name != second.collective.name:
        return f"one is of {first.collective.name}, the other of {second.collective.name}"
    if len(first) != len(second):
        return f"one has {len(first)} operations, the other {len(second)}"
    for field in fields(Schedule):
        mine = getattr(first, field.name)
        if not isinstance(mine, np.ndarray):
            continue
        theirs = getattr(second, field.name)
        if mine.shape == theirs.shape and (mine == theirs).all():
            continue
        return _told(first, second, field.name)
    return None


def _told(first: Schedule, second: Schedule, name: str) -> str:
    what = {"piece_ptr": "piece", "dep_ptr": "dep"}.get(name, name)
    each = ((o, _of(first, o, what), _of(second, o, what)) for o in range(len(first)))
    o, one, other = next(row for row in each if row[1] != row[2])
    return f"operation {o}: {what} is {one} in one and {other} in the other"


def _of(schedule: Schedule, o: int, name: str) -> object:
    if name == "piece":
        return schedule.carried(o).tolist()
    if name == "into":
        return schedule.written(o).tolist()
    if name == "dep":
        return schedule.waits_for(o).tolist()
    return getattr(schedule, name)[o].item()
