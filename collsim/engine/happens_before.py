"""The happens-before check: no two conflicting accesses of a schedule are unordered.

A replay follows one order of events; another machine may take another. What holds in
every order is what the dependencies enforce, so this check looks at nothing else: not
at times, and not at how the dependencies were found. It works out, for each operation,
the set of all operations that must have finished before it starts, and looks every
pair of conflicting accesses up in it.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from collsim.core.schedule import COPY, Schedule
from collsim.engine.wording import name_operation, name_party, name_place

__all__ = ["check_order"]

Accesses = dict[tuple[int, int], str]


def check_order(schedule: Schedule) -> str | None:
    """Return which rule of order a schedule breaks, or None if it breaks none.

    Parameters
    ----------
    schedule : Schedule
        What to check.

    Returns
    -------
    str or None
        Names the operations, the rank and the piece.

    Notes
    -----
    An operation reads places of its sender and writes places of its receiver, at any
    time between its start and its finish. The rules:

    **Conflicts are ordered.** Two accesses of different operations to one place conflict
    unless both read or both reduce. One of the two operations must wait for the other,
    directly or through others.

    **A message overwrites a place once.** Two pieces of one message can't be copied
    into the same place.

    **A message to oneself moves data, or leaves them.** It reads and writes one memory, so
    a place that it reads is not one that it writes, unless every piece stays in place.

    **Waits are local.** An operation may wait only for operations that its own sender or
    receiver took part in. A rank learns that a message is through by sending or
    receiving it; nobody tells it about messages between others. A schedule that relies
    on such news may have an order on paper, but no machine can run it as it stands.

    The sets are bit masks, dropped as soon as nobody waits for their operation any more,
    so that a schedule of some ten thousand operations needs some megabytes.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> check_order(build("all_reduce", "ring", 8)) is None
    True
    """
    reason = _local(schedule)
    if reason is not None:
        return reason
    log = _Log()
    places = schedule.places
    src, dst = schedule.src.tolist(), schedule.dst.tolist()
    copies = (schedule.kind == COPY).tolist()
    ptr, piece, into = (
        schedule.piece_ptr.tolist(),
        schedule.piece.tolist(),
        schedule.into.tolist(),
    )
    for o, through in enumerate(_through_before(schedule)):
        reads = [src[o] * places + place for place in piece[ptr[o] : ptr[o + 1]]]
        writes = [dst[o] * places + place for place in into[ptr[o] : ptr[o + 1]]]
        if not all(through >> i & 1 for i in log.rivals(reads, writes, copies[o])):
            rivals = log.all_rivals(reads, writes, copies[o])
            first = min(i for i in rivals if not through >> i & 1)
            return _conflict(schedule, first, o)
        if copies[o] and len(set(writes)) < len(writes):
            twice = next(place for place in writes if writes.count(place) > 1) % places
            return (
                f"{name_operation(schedule, o)} overwrites {name_place(schedule, twice)} "
                f"of {name_party(schedule, dst[o])} twice"
            )
        if reads != writes and not set(reads).isdisjoint(writes):
            both = min(set(reads) & set(writes)) % places
            return (
                f"{name_operation(schedule, o)} reads {name_place(schedule, both)} "
                f"of {name_party(schedule, dst[o])} while it writes it"
            )
        log.add(o, reads, writes, copies[o])
    return None


def _through_before(schedule: Schedule) -> Iterator[int]:
    """Yield, per operation, all that must have finished before it starts, a bit for each."""
    dep_ptr, dep = schedule.dep_ptr.tolist(), schedule.dep.tolist()
    waits = [dep[i:j] for i, j in pairwise(dep_ptr)]
    last_use = [-1] * len(waits)
    for o, awaited in enumerate(waits):
        for d in awaited:
            last_use[d] = o
    through = [0] * len(waits)
    for o, awaited in enumerate(waits):
        known = 0
        for d in awaited:
            known |= through[d] | 1 << d
            if last_use[d] == o:
                through[d] = 0
        through[o] = known if last_use[o] >= 0 else 0
        yield known


class _Phase:
    """The last access of a place, and by way of it those before.

    Neighbouring reads are one phase, neighbouring reductions too, and every copy is one. What
    is ordered after all of a phase is after all before it, whose order was checked when they
    were noted. Places with one history share it, so that a long message costs little.
    """

    __slots__ = ("before", "how", "operation", "same")

    def __init__(self, how: str, operation: int, last: "_Phase | None") -> None:
        self.how, self.operation = how, operation
        self.same: _Phase | None = None
        self.before: _Phase | None = last
        if last is not None and last.how == how != "copy":
            self.same, self.before = last, last.before

    def members(self) -> Iterator[int]:
        """Iterate over the operations of the phase."""
        at: _Phase | None = self
        while at is not None:
            yield at.operation
            at = at.same

    def rivals(self, how: str) -> Iterator[int]:
        """Iterate over the operations of the last phase that conflicts with an access."""
        phase = self if self.how != how or how == "copy" else self.before
        return iter(()) if phase is None else phase.members()


class _Log:
    """Who has accessed each place so far, and how."""

    def __init__(self) -> None:
        self._last: dict[int, _Phase] = {}

    def rivals(self, reads: list[int], writes: list[int], copies: bool) -> set[int]:
        """Return earlier operations that conflict with these accesses: the last of them."""
        last = self._last
        found: set[int] = set()
        for how, places in (("read", reads), ("copy" if copies else "reduce", writes)):
            phases = {id(p): p for p in map(last.get, places) if p is not None}
            for phase in phases.values():
                found.update(phase.rivals(how))
        return found

    def all_rivals(self, reads: list[int], writes: list[int], copies: bool) -> set[int]:
        """Return all earlier operations that conflict with these accesses."""
        found: set[int] = set()
        for how, places in (("read", reads), ("copy" if copies else "reduce", writes)):
            for place in places:
                phase = self._last.get(place)
                while phase is not None:
                    if phase.how != how or how == "copy":
                        found.update(phase.members())
                    phase = phase.before
        return found

    def add(self, o: int, reads: list[int], writes: list[int], copies: bool) -> None:
        """Note the accesses of one more operation."""
        last = self._last
        for how, places in (("read", reads), ("copy" if copies else "reduce", writes)):
            # `old` keeps the histories alive, so that no two have one identity.
            old = [last.get(place) for place in places]
            grown: dict[int, _Phase] = {}
            for place, phase in zip(places, old, strict=True):
                if id(phase) not in grown:
                    grown[id(phase)] = _Phase(how, o, phase)
                last[place] = grown[id(phase)]


def _local(schedule: Schedule) -> str | None:
    """Return the first wait for a message between others, or None."""
    waiting = np.repeat(np.arange(len(schedule)), np.diff(schedule.dep_ptr))
    src, dst = schedule.src, schedule.dst
    mine, theirs = (src[waiting], dst[waiting]), (src[schedule.dep], dst[schedule.dep])
    shared = np.zeros(waiting.size, dtype=np.bool_)
    for a in mine:
        for b in theirs:
            shared |= a == b
    if shared.all():
        return None
    first = int(np.flatnonzero(~shared)[0])
    o, d = int(waiting[first]), int(schedule.dep[first])
    return (
        f"{name_operation(schedule, o)} waits for {name_operation(schedule, d)}, "
        f"in which neither {name_party(schedule, src[o])} nor "
        f"{name_party(schedule, dst[o])} takes part"
    )


def _conflict(schedule: Schedule, first: int, second: int) -> str:
    """Return the words for two unordered operations that conflict."""
    reads_a, writes_a = _accesses(schedule, first)
    reads_b, writes_b = _accesses(schedule, second)
    shared = [
        (rank, place, a[rank, place], b[rank, place])
        for a, b in ((writes_a, reads_b), (reads_a, writes_b), (writes_a, writes_b))
        for rank, place in sorted(a.keys() & b.keys())
    ]
    rank, place, a_does, b_does = next(
        found for found in shared if found[2:] != ("reduces into", "reduces into")
    )
    return (
        f"{name_operation(schedule, first)} {a_does} {name_place(schedule, place)} of "
        f"{name_party(schedule, rank)} and {name_operation(schedule, second)} {b_does} it, "
        "in no fixed order"
    )


def _accesses(schedule: Schedule, o: int) -> tuple[Accesses, Accesses]:
    """Return what an operation reads and what it writes: (rank, place) to a verb."""
    verb = "overwrites" if schedule.kind[o] == COPY else "reduces into"
    return (
        {(int(schedule.src[o]), int(p)): "reads" for p in schedule.carried(o)},
        {(int(schedule.dst[o]), int(p)): verb for p in schedule.written(o)},
    )
