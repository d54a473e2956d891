"""Real data moved in random legal orders: plain Python that shares no code with what it checks.

An operation reads every place that it carries at some time after all that it waits for is
through, and writes each after it was read; between these times others do what they may. A
place holds a multiset of contributions, each the number of a rank and of a piece of its data.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# Sender or receiver, and the number of a place in its memory.
Place = tuple[int, int]
# The contributions that a place holds, in rising order.
Data = tuple[tuple[int, int], ...]
NOTHING: Data = ()
# What the caller's memory held before: anything.
ANYTHING: Data = ((-1, -1),)

RULES = frozenset(
    {
        "conflicts with another in no fixed order",
        "waits for a message between others",
        "overwrites a place twice",
        "reads what it writes",
    }
)
MISDEEDS = frozenset(
    {
        "sends what is not there",
        "reduces into what is not there",
        "combines different pieces",
        "counts a contribution twice",
    }
)


@dataclass(frozen=True)
class Operation:
    """One message: the first place of `reads` goes to the first of `writes`, and so on."""

    src: int
    dst: int
    reduces: bool
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    waits: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Task:
    """What a collective asks of ranks that hold so many pieces each, beside scratch."""

    ranks: int
    pieces: int
    before: dict[Place, Data]
    after: dict[Place, Data]

    def at_first(self, place: Place) -> Data:
        """Return what a place holds at first; scratch places and switches hold nothing."""
        held = place[0] < self.ranks and place[1] < self.pieces
        return self.before.get(place, ANYTHING if held else NOTHING)


def task(name: str, ranks: int, root: int, parts: int) -> Task:
    """Return what a collective asks, block by block; a block has so many parts."""
    every = range(ranks)
    # (who holds its own contribution to a block before, block), (rank, block): whose after.
    has: list[Place]
    gets: dict[Place, Sequence[int]]
    if name == "broadcast":
        has, gets = [(root, 0)], {(r, 0): [root] for r in every}
    elif name == "reduce":
        has, gets = [(r, 0) for r in every], {(root, 0): every}
    elif name == "all_reduce":
        has, gets = [(r, 0) for r in every], {(r, 0): every for r in every}
    elif name == "scatter":
        has, gets = [(root, b) for b in every], {(b, b): [root] for b in every}
    elif name == "gather":
        has, gets = [(b, b) for b in every], {(root, b): [b] for b in every}
    elif name == "all_gather":
        has, gets = [(b, b) for b in every], {(r, b): [b] for r in every for b in every}
    elif name == "reduce_scatter":
        has, gets = [(r, b) for r in every for b in every], {(b, b): every for b in every}
    elif name == "all_to_all":
        pairs = [(s, d) for s in every for d in every]
        has = [(s, s * ranks + d) for s, d in pairs]
        gets = {(d, s * ranks + d): [s] for s, d in pairs}
    else:
        assert name == "sendrecv"
        has, gets = [(r, r) for r in every], {((r + 1) % ranks, r): [r] for r in every}
    blocks = 1 + max(block for _, block in has)
    before, after = {}, {}
    for part in range(parts):
        for rank, block in has:
            piece = block * parts + part
            before[rank, piece] = ((rank, piece),)
        for (rank, block), whose in gets.items():
            piece = block * parts + part
            after[rank, piece] = tuple(sorted((r, piece) for r in whose))
    return Task(ranks, blocks * parts, before, after)


class Event(NamedTuple):
    """That an operation reads (0) or writes (1) one of the places that it carries."""

    operation: int
    writes: int
    which: int


class Run:
    """The memory of all while operations are under way."""

    def __init__(self, task: Task, operations: Sequence[Operation]) -> None:
        self.task, self.operations = task, operations
        self.memory: dict[Place, Data] = {}
        self.carried: dict[tuple[int, int], Data] = {}
        self.left = [2 * len(op.reads) for op in operations]
        self.over: set[int] = set()
        self.done: set[Event] = set()
        # Places of switches that hold a sum; who took a sum, which nobody else has then.
        self.sums: set[Place] = set()
        self.taken: dict[tuple[int, Place], Data] = {}
        self.misdeeds: set[str] = set()
        self._end()

    def _end(self) -> None:
        """Note which operations are through; those that carry nothing, as soon as they may."""
        for o, op in enumerate(self.operations):
            if not self.left[o] and op.waits <= self.over:
                self.over.add(o)

    def possible(self) -> list[Event]:
        """Return all events that may come next."""
        found = []
        for o, op in enumerate(self.operations):
            if o in self.over or not op.waits <= self.over:
                continue
            for which in range(len(op.reads)):
                event = Event(o, (o, which) in self.carried, which)
                if event not in self.done:
                    found.append(event)
        return found

    def holds(self, place: Place) -> Data:
        """Return what a place holds now."""
        return self.memory.get(place, self.task.at_first(place))

    def do(self, event: Event) -> None:
        """Let an event happen."""
        op = self.operations[event.operation]
        if event.writes:
            self._write(op, (op.dst, op.writes[event.which]), self.carried[event[::2]])
        else:
            place = (op.src, op.reads[event.which])
            self.carried[event[::2]] = self._read(event.operation, place)
        self.done.add(event)
        self.left[event.operation] -= 1
        if not self.left[event.operation]:
            self._end()

    def _read(self, o: int, place: Place) -> Data:
        data = self.taken.get((o, place))
        if data is None:
            data = self.holds(place)
            if place in self.sums:
                # A switch hands a sum to one message, and has it no more.
                self.taken[o, place] = data
                self.memory[place] = NOTHING
                self.sums.discard(place)
        if data in (NOTHING, ANYTHING):
            self.misdeeds.add("sends what is not there")
        return data

    def _write(self, op: Operation, place: Place, data: Data) -> None:
        known = self.holds(place)
        switch = place[0] >= self.task.ranks
        if not op.reduces:
            self.memory[place] = data
            self.sums.discard(place)
            return
        if known == ANYTHING:
            self.misdeeds.add("reduces into what is not there")
        if len({piece for _, piece in known + data}) > 1:
            self.misdeeds.add("combines different pieces")
        if set(known) & set(data):
            self.misdeeds.add("counts a contribution twice")
        self.memory[place] = tuple(sorted(known + data))
        if switch:
            self.sums.add(place)

    def right(self) -> bool:
        """Return whether every place that counts holds what it must."""
        return all(self.holds(place) == data for place, data in self.task.after.items())


def run(task: Task, operations: Sequence[Operation], rng: random.Random) -> Run:
    """Run once, in a random legal order.

    Half of the time any event may be next; else operations are in a hurry or not, to read or
    to write, so that some are overtaken by all that may overtake them.
    """
    at = Run(task, operations)
    hurry = [(rng.random(), rng.random()) for _ in operations] if rng.random() < 0.5 else None
    while events := at.possible():
        if hurry is None:
            at.do(rng.choice(events))
        else:
            at.do(min(events, key=lambda event: hurry[event.operation][event.writes]))
    assert len(at.over) == len(operations)
    return at


def every_run(
    task: Task, operations: Sequence[Operation], most: int = 3000
) -> list[Run] | None:
    """Return how all legal orders end, or None if there is more to try than so many events.

    Orders that have led to the same memory, with the same events before them, go on alike.
    """
    seen: set[object] = set()
    ends: list[Run] = []
    stack: list[tuple[Event, ...]] = [()]
    while stack:
        if len(seen) > most:
            return None
        order = stack.pop()
        at = Run(task, operations)
        for event in order:
            at.do(event)
        memory = frozenset(at.memory.items())
        way = (frozenset(at.carried.items()), frozenset(at.taken.items()), frozenset(at.sums))
        state = (frozenset(order), memory, way)
        if state in seen:
            continue
        seen.add(state)
        events = at.possible()
        stack += [(*order, event) for event in events]
        if not events:
            ends.append(at)
    return ends


def rules_broken(task: Task, operations: Sequence[Operation]) -> set[str]:
    """Return the rules that a list of operations breaks, whatever the data are."""
    broken = set()
    through: list[set[int]] = []
    for o, op in enumerate(operations):
        through.append(set().union(op.waits, *(through[d] for d in op.waits)))
        for d in op.waits:
            if not {op.src, op.dst} & {operations[d].src, operations[d].dst}:
                broken.add("waits for a message between others")
        if not op.reduces and len(set(op.writes)) < len(op.writes):
            broken.add("overwrites a place twice")
        if op.src == op.dst and op.reads != op.writes and set(op.reads) & set(op.writes):
            broken.add("reads what it writes")
        for e, earlier in enumerate(operations[:o]):
            if e not in through[o] and conflict(earlier, op):
                broken.add("conflicts with another in no fixed order")
    return broken


def conflict(first: Operation, second: Operation) -> bool:
    """Return whether two operations touch a place, and neither both read it nor both reduce."""
    reads = [{(op.src, place) for place in op.reads} for op in (first, second)]
    writes = [{(op.dst, place) for place in op.writes} for op in (first, second)]
    if writes[0] & reads[1] or reads[0] & writes[1]:
        return True
    return bool(writes[0] & writes[1]) and not (first.reduces and second.reduces)


def conflicts(operations: Sequence[Operation]) -> Iterator[frozenset[int]]:
    """Yield per operation all earlier ones that it conflicts with."""
    for o, op in enumerate(operations):
        yield frozenset(e for e in range(o) if conflict(operations[e], op))
