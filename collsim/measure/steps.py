"""A schedule as one rank carries it out: grouped messages, then local work, step by step.

A step holds the messages whose data are there once the steps before it are done, in the
round in which the author listed them. A rank waits for its own messages of a step and for
nobody else's. Every rank goes through the steps in the same order and posts all of a step
at once, so none can wait for one that waits for it; and since whatever conflicts is ordered
by dependencies, and so lies in different steps, messages of one step may come in any order.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from collsim.core.elements import block_counts, split
from collsim.core.schedule import REDUCE, Schedule
from collsim.errors import InputError

__all__ = ["Arrival", "Departure", "Held", "Plan", "Step", "plan", "step_numbers"]

Span = tuple[int, int]
"""From one element of a rank's memory up to another one."""


@dataclass(frozen=True)
class Departure:
    """A message that leaves.

    Parameters
    ----------
    peer, tag : int
        Who gets it, and the number of the operation.
    spans : tuple of (int, int)
        What is sent, end to end. Several are first gathered into one place.
    staged : (int, int), optional
        That place in the staging area, if there are several.
    """

    peer: int
    tag: int
    spans: tuple[Span, ...]
    staged: Span | None


@dataclass(frozen=True)
class Arrival:
    """A message that comes.

    Parameters
    ----------
    peer, tag : int
        Who sends it, and the number of the operation.
    spans : tuple of (int, int)
        Where its data belong.
    adds : tuple of bool
        Of every span, whether it is combined with what is there.
    staged : (int, int), optional
        Where it is received first, if it is not one span that is overwritten.
    """

    peer: int
    tag: int
    spans: tuple[Span, ...]
    adds: tuple[bool, ...]
    staged: Span | None


@dataclass
class Step:
    """What one rank does between two waits."""

    departures: list[Departure] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    # From a rank to itself: source, target, whether it is combined.
    moves: list[tuple[Span, Span, bool]] = field(default_factory=list)


@dataclass(frozen=True)
class Held:
    """A part of a block in a rank's memory.

    Parameters
    ----------
    block : int
        Of the collective.
    first : int
        The block's element that comes first.
    span : (int, int)
        Where it lies.
    """

    block: int
    first: int
    span: Span


@dataclass(frozen=True)
class Plan:
    """All that one rank does.

    Parameters
    ----------
    memory, staging : int
        Elements of either area.
    steps : tuple of Step
        Those in which the rank does something.
    inputs, outputs : tuple of Held
        What it brings, and what it must hold at the end.
    """

    memory: int
    staging: int
    steps: tuple[Step, ...]
    inputs: tuple[Held, ...]
    outputs: tuple[Held, ...]


def step_numbers(schedule: Schedule) -> NDArray[np.int64]:
    """Return the step of every operation, shape (N,).

    Examples
    --------
    In a ring every message waits for the one before it:

    >>> from collsim import build
    >>> step_numbers(build("broadcast", "ring", 4)).tolist()
    [0, 1, 2]
    """
    steps = np.maximum(schedule.round.astype(np.int64), 0)
    ptr, dep = schedule.dep_ptr.tolist(), schedule.dep.tolist()
    found: list[int] = steps.tolist()
    for o in range(len(found)):
        for d in dep[ptr[o] : ptr[o + 1]]:
            if found[d] >= found[o]:
                found[o] = found[d] + 1
    return np.array(found, dtype=np.int64)


def plan(schedule: Schedule, rank: int, count: int) -> Plan:
    """Return what one rank does to carry a schedule out on a buffer of `count` elements.

    Blocks and their parts are cut into whole elements, the larger shares first. A message
    that so comes to hold no element is not sent.

    Parameters
    ----------
    schedule : Schedule
        What to carry out.
    rank : int
        Whose part of it.
    count : int
        Elements of the full buffer.

    Raises
    ------
    InputError
        If switches take part, which only hardware can do.
    """
    if schedule.agents:
        raise InputError("a schedule in which switches add up can't be carried out by ranks")
    sizes = _Sizes(schedule, count)
    mine = _Layout(rank, schedule, sizes)
    steps: defaultdict[int, Step] = defaultdict(Step)
    free: defaultdict[int, int] = defaultdict(int)
    number = step_numbers(schedule).tolist()
    src, dst = schedule.src.tolist(), schedule.dst.tolist()
    for o, carried in enumerate(sizes.carried):
        total = sum(size for size, _ in carried)
        if rank not in (src[o], dst[o]) or not total:
            continue
        at, step = free[number[o]], steps[number[o]]
        if src[o] == dst[o]:
            places = zip(schedule.carried(o), schedule.written(o), carried, strict=True)
            step.moves += [
                (mine.span(int(a), size), mine.span(int(b), size), adds)
                for a, b, (size, adds) in places
                if size
            ]
        elif rank == src[o]:
            spans = _joined(
                [
                    mine.span(int(p), n)
                    for p, (n, _) in zip(schedule.carried(o), carried, strict=True)
                ]
            )
            staged = (at, at + total) if len(spans) > 1 else None
            step.departures.append(Departure(dst[o], o, tuple(s for s, _ in spans), staged))
            free[number[o]] += total if staged else 0
        else:
            spans = _joined(
                [
                    mine.span(int(p), n)
                    for p, (n, _) in zip(schedule.written(o), carried, strict=True)
                ],
                [adds for _, adds in carried],
            )
            direct = len(spans) == 1 and not spans[0][1]
            staged = None if direct else (at, at + total)
            step.arrivals.append(
                Arrival(
                    src[o], o, tuple(s for s, _ in spans), tuple(a for _, a in spans), staged
                )
            )
            free[number[o]] += total if staged else 0
    return Plan(
        memory=mine.total,
        staging=max(free.values(), default=0),
        steps=tuple(steps[i] for i in sorted(steps)),
        inputs=mine.held(*schedule.collective.before(schedule.ranks, schedule.root)),
        outputs=mine.held(*schedule.collective.after(schedule.ranks, schedule.root)),
    )


def _joined(spans: list[Span], adds: list[bool] | None = None) -> list[tuple[Span, bool]]:
    """Return spans with those that follow one another made one; empty ones left out."""
    made: list[tuple[Span, bool]] = []
    for (start, stop), add in zip(spans, adds or [False] * len(spans), strict=True):
        if start == stop:
            continue
        if made and made[-1][0][1] == start and made[-1][1] == add:
            made[-1] = ((made[-1][0][0], stop), add)
        else:
            made.append(((start, stop), add))
    return made


class _Sizes:
    """How many elements every operation carries, and what each place holds at most.

    Found by going through the operations in program order, as data would.
    """

    def __init__(self, schedule: Schedule, count: int) -> None:
        kind, ranks, parts = schedule.collective, schedule.ranks, schedule.parts
        blocks = block_counts(kind, ranks, count, schedule.root)
        self.parts = [split(block, parts) for block in blocks]
        held: dict[tuple[int, int], int] = {}
        for rank, block in zip(*kind.before(ranks, schedule.root), strict=True):
            for part, size in enumerate(self.parts[block]):
                held[int(rank), int(block) * parts + part] = size
        self.most = dict(held)
        # A place that must hold the result has room, even if nothing ever comes.
        for rank, block in zip(*kind.after(ranks, schedule.root), strict=True):
            for part, size in enumerate(self.parts[block]):
                self.most.setdefault((int(rank), int(block) * parts + part), size)
        # Of every operation, of every piece: its size, and whether it is combined.
        self.carried: list[list[tuple[int, bool]]] = []
        src, dst = schedule.src.tolist(), schedule.dst.tolist()
        for o in range(len(schedule)):
            reads, writes = schedule.carried(o).tolist(), schedule.written(o).tolist()
            message = [held[src[o], p] for p in reads]
            known = [schedule.kind[o] == REDUCE and (dst[o], p) in held for p in writes]
            for place, size in zip(writes, message, strict=True):
                held[dst[o], place] = size
                self.most[dst[o], place] = max(size, self.most.get((dst[o], place), 0))
            self.carried.append([(n, bool(k)) for n, k in zip(message, known, strict=True)])


class _Layout:
    """Where the places of one rank lie in its memory: those it uses, in their order."""

    def __init__(self, rank: int, schedule: Schedule, sizes: _Sizes) -> None:
        self.rank, self.parts, self.sizes = rank, schedule.parts, sizes
        used = sorted(place for r, place in sizes.most if r == rank)
        ends = np.cumsum([0, *(sizes.most[rank, place] for place in used)]).tolist()
        self.start = dict(zip(used, ends, strict=False))
        self.total = int(ends[-1])

    def span(self, place: int, size: int) -> Span:
        return self.start[place], self.start[place] + size

    def held(self, ranks: NDArray[np.int64], blocks: NDArray[np.int64]) -> tuple[Held, ...]:
        found = []
        for block in np.sort(blocks[ranks == self.rank]).tolist():
            sizes = self.sizes.parts[block]
            for part, (first, last) in enumerate(pairwise(np.cumsum([0, *sizes]).tolist())):
                if last > first:
                    place = block * self.parts + part
                    found.append(Held(block, first, self.span(place, last - first)))
        return tuple(found)
