"""Orders of operations: what data ask for, and what of it others imply."""

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Phases", "circular", "depths", "in_order", "reduced"]

Place = tuple[int, int]


class Phases:
    """Which earlier operations an access must wait for, place by place.

    As in :mod:`collsim.core.dependencies_kernel`: neighbouring reads of a place are one phase,
    so are neighbouring reductions; every copy is one. An access waits for all of the phase
    before.

    Examples
    --------
    >>> phases = Phases()
    >>> phases.access(0, (1, 0), "copy"), phases.access(1, (1, 0), "read")
    ((), (0,))
    """

    def __init__(self) -> None:
        self._now: dict[Place, tuple[str, list[int]]] = {}
        self._before: dict[Place, list[int]] = defaultdict(list)

    def access(self, operation: int, place: Place, how: str) -> Sequence[int]:
        """Note an access (``"read"``, ``"reduce"`` or ``"copy"``); return what it waits for."""
        what, members = self._now.get(place, ("", []))
        if what != how or how == "copy":
            self._before[place] = members
            members = []
            self._now[place] = (how, members)
        members.append(operation)
        return tuple(d for d in self._before[place] if d != operation)


def reduced(
    waits: Sequence[Iterable[int]],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return dependencies without those that others imply, as `dep_ptr` and `dep`.

    Parameters
    ----------
    waits : sequence of iterable of int
        Of every operation, the earlier ones that it waits for.

    Examples
    --------
    >>> [array.tolist() for array in reduced([[], [0], [0, 1]])]
    [[0, 0, 1, 2], [0, 1]]
    """
    last = {d: o for o, earlier in enumerate(waits) for d in earlier}
    through: dict[int, int] = {}
    pointers: list[int] = [0]
    kept: list[int] = []
    for o, earlier in enumerate(waits):
        known = 0
        mine = []
        wanted = sorted(set(earlier), reverse=True)
        for d in wanted:
            if not known >> d & 1:
                mine.append(d)
            known |= through[d] | 1 << d
        for d in wanted:
            if last[d] == o:
                del through[d]
        if o in last:
            through[o] = known
        kept += reversed(mine)
        pointers.append(len(kept))
    return np.array(pointers, dtype=np.int64), np.array(kept, dtype=np.int32)


def in_order(
    waits: Sequence[Collection[int]], priority: Sequence[tuple[int, int]]
) -> list[int] | None:
    """Return operations so that each comes after what it waits for; None if that can't be.

    Parameters
    ----------
    waits : sequence of collection of int
        Of every operation, the others that it waits for.
    priority : sequence of (int, int)
        Of all that could come next, the one of the smallest does.

    Examples
    --------
    >>> in_order([[1], [], []], [(0, 0), (1, 0), (0, 1)])
    [2, 1, 0]
    """
    order = _kahn(waits, priority)
    return order if len(order) == len(waits) else None


def depths(waits: Sequence[Collection[int]], counts: Sequence[bool]) -> list[int] | None:
    """Return how many of those that count each has to wait for, one after another.

    None where some wait in a circle.

    Examples
    --------
    >>> depths([[], [0], [1]], [True, False, True])
    [0, 1, 1]
    """
    order = in_order(waits, [(0, 0)] * len(waits))
    if order is None:
        return None
    found = [0] * len(waits)
    for o in order:
        for d in waits[o]:
            found[o] = max(found[o], found[d] + counts[d])
    return found


def circular(waits: Sequence[Collection[int]]) -> set[int]:
    """Return operations in circles of waits, and those between two circles.

    Examples
    --------
    >>> sorted(circular([[], [0, 2], [1], [2]]))
    [1, 2]
    """
    order = _kahn(waits, [(0, 0)] * len(waits))
    left = set(range(len(waits))) - set(order)
    while True:
        awaited = left & {d for o in left for d in waits[o]}
        if awaited == left:
            return left
        left = awaited


def _kahn(waits: Sequence[Collection[int]], priority: Sequence[tuple[int, int]]) -> list[int]:
    after: list[list[int]] = [[] for _ in waits]
    missing = [len(set(earlier)) for earlier in waits]
    for o, earlier in enumerate(waits):
        for d in set(earlier):
            after[d].append(o)
    ready = [(*priority[o], o) for o, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        o = heapq.heappop(ready)[-1]
        order.append(o)
        for later in after[o]:
            missing[later] -= 1
            if not missing[later]:
                heapq.heappush(ready, (*priority[later], later))
    return order
