"""A schedule as thread blocks: who sends to whom on which channel, in which order.

Every thread block sends to one GPU, or receives from one, or works alone; a connection (two
GPUs and a channel) has one thread block at each end, so its messages keep their order. The
steps of all thread blocks lie in the order of the schedule's operations, so none waits for a
later one and nothing can hang, however few messages a connection holds.

A thread block does its steps one after the other, which a schedule does not ask for. A message
takes the first channel on which what its thread blocks make it wait for is what it waits for
anyway, so that reading the file gives the schedule back.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import Final, NamedTuple

from collsim.core.schedule import REDUCE, Schedule
from collsim.errors import InputError, TooLargeError
from collsim.interop._order import Phases
from collsim.interop.msccl.flow import Connection
from collsim.interop.msccl.program import Program
from collsim.interop.msccl.steps import Event, write_steps
from collsim.interop.msccl.waits import Waits, merged

__all__ = ["to_program"]

_MOST_MESSAGES: Final = 12_000
# So many thread blocks of a GPU may send on one channel, and so many receive.
_MOST_A_CHANNEL: Final = 32

Place = tuple[int, int]


def to_program(schedule: Schedule, name: str, protocol: str = "Simple") -> Program:
    """Return the MSCCL program of a schedule.

    Parameters
    ----------
    schedule : Schedule
        Any that sends no message to or from a switch.
    name : str
        What to call it.
    protocol : str
        ``Simple``, ``LL`` or ``LL128``.

    Raises
    ------
    InputError
        If switches take part, a message carries nothing, or what a rank brings is overwritten
        where the collective has two buffers.
    TooLargeError
        If it has more messages than is written.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> ring = to_program(build("all_gather", "ring", 3), "ring")
    >>> [len(gpu.blocks) for gpu in ring.gpus]
    [2, 2, 2]
    """
    if schedule.agents:
        raise InputError(
            f"{name}: its messages go by way of a switch that adds up and multicasts, for "
            "which MSCCL's XML has no step"
        )
    if len(schedule) > _MOST_MESSAGES:
        raise TooLargeError(
            f"{name}: {len(schedule):,} messages, expected at most {_MOST_MESSAGES:,}"
        )
    blocks = _Assigner(schedule).blocks()
    return write_steps(schedule, name, protocol, blocks)


@dataclass
class _Tail:
    """A thread block in the making, and what is done when its last event is."""

    rank: int
    send: int
    recv: int
    channel: int
    events: list[Event] = field(default_factory=list)
    waits: Waits = field(default_factory=Waits)
    known: int = 0


class _Plan(NamedTuple):
    """What an event would be at the end of a thread block."""

    event: int
    tail: _Tail
    named: list[int]
    known: int
    waits: Waits


def _end(tail: _Tail) -> tuple[int, bool, int]:
    return tail.rank, tail.send >= 0, tail.channel


class _Assigner:
    """Event 2 o is the send of operation o, or all of it, and 2 o + 1 its receive."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._tails: dict[tuple[int, int, int, int], _Tail] = {}
        # Of every operation: all that is done before it, as bits.
        self._through: list[int] = []
        # Of every event: events done before it, as bits; what its thread block waited for.
        self._known: dict[int, int] = {}
        self._after: dict[int, Waits] = {}
        # Events to wait for, where nothing else sees to it, and those to wait for by name.
        self._wanted: dict[int, set[int]] = defaultdict(set)
        self._always: dict[int, set[int]] = defaultdict(set)
        self._sums: dict[int, set[Place]] = defaultdict(set)
        self._queue: dict[Connection, int] = defaultdict(int)
        self._opened: Counter[tuple[int, bool, int]] = Counter()

    def blocks(self) -> list[tuple[int, int, int, int, list[Event]]]:
        """Return rank, send, recv, channel and events of every thread block."""
        phases = Phases()
        last: dict[Place, int] = {}
        at: dict[tuple[Place, int], int] = {}
        for o in range(len(self.schedule)):
            self._note(o, phases, last, at)
            self._place(o)
        return [(t.rank, t.send, t.recv, t.channel, t.events) for t in self._tails.values()]

    def _ends(self, o: int) -> tuple[int, int]:
        return int(self.schedule.src[o]), int(self.schedule.dst[o])

    def _last_event(self, o: int) -> int:
        src, dst = self._ends(o)
        return 2 * o + (src != dst)

    def _note(
        self, o: int, phases: Phases, last: dict[Place, int], at: dict[tuple[Place, int], int]
    ) -> None:
        """Find what the events of an operation must wait for."""
        schedule = self.schedule
        src, dst = self._ends(o)
        end = self._last_event(o)
        how = "reduce" if schedule.kind[o] == REDUCE else "copy"
        data: set[int] = set()
        for event, place, access in (
            *((2 * o, (src, p), "read") for p in schedule.carried(o).tolist()),
            *((end, (dst, p), how) for p in schedule.written(o).tolist()),
        ):
            for d in phases.access(o, place, access):
                data.add(d)
                self._wanted[event].add(at[place, d])
            at[place, o] = event
            if access == "reduce":
                self._sums[end].add(place)
                if place in last and last[place] != end:
                    # The order of sums is free in a schedule; thread blocks take turns.
                    self._wanted[end].add(last[place])
                last[place] = end
            elif access == "copy":
                last.pop(place, None)
        through = 0
        for d in schedule.waits_for(o).tolist():
            through |= self._through[d] | 1 << d
            if d not in data:
                event, other = self._meeting(o, d)
                self._always[event].add(other)
        self._through.append(through)

    def _meeting(self, o: int, d: int) -> tuple[int, int]:
        """Return the events of two operations by which one can wait for the other."""
        src, dst = self._ends(o)
        before, there = self._ends(d)
        if there == dst:
            return self._last_event(o), self._last_event(d)
        if before == src:
            return 2 * o, 2 * d
        if there == src:
            return 2 * o, self._last_event(d)
        if before == dst:
            return self._last_event(o), 2 * d
        raise InputError(
            f"schedule: operation {o} waits for operation {d}, in which neither of its ranks "
            "takes part"
        )

    def _place(self, o: int) -> None:
        """Give an operation its thread blocks."""
        src, dst = self._ends(o)
        first = 0 if src == dst else int(self.schedule.channel[o])
        for channel in count(first):
            if src == dst:
                ends = [(2 * o, self._tail(src, -1, -1, channel))]
            else:
                ends = [
                    (2 * o, self._tail(src, dst, -1, channel)),
                    (2 * o + 1, self._tail(dst, -1, src, channel)),
                ]
            plans = self._fit(o, ends)
            if plans is not None:
                for plan in plans:
                    self._append(plan)
                return

    def _tail(self, rank: int, send: int, recv: int, channel: int) -> _Tail:
        key = rank, send, recv, channel
        return self._tails.get(key) or _Tail(*key)

    def _fit(self, o: int, ends: list[tuple[int, _Tail]]) -> list[_Plan] | None:
        """Return the events at the end of thread blocks; None where they'd wait for more."""
        plans: list[_Plan] = []
        for event, tail in ends:
            if not tail.events and self._opened[_end(tail)] >= _MOST_A_CHANNEL:
                return None
            known = tail.known
            if plans:
                known |= plans[0].known | 1 << plans[0].event
            named = []
            for d in sorted(self._always[event] | self._wanted[event], reverse=True):
                if d in self._always[event] or not known >> d & 1:
                    named.append(d)
                    known |= self._known[d] | 1 << d
            came = [
                self._after[d]
                for d in named
                if d in self._always[event] or self._sums[d].isdisjoint(self._sums[event])
            ]
            waits = merged([tail.waits, *came])
            if tail.recv >= 0:
                waits = waits.received(*self._next(tail), o)
            if any(not self._through[o] >> m & 1 for m in waits.messages() - {o}):
                return None
            if tail.send == tail.recv == -1:
                waits = Waits(others=frozenset({o}))
            plans.append(_Plan(event, tail, named, known, waits))
        return plans

    def _next(self, tail: _Tail) -> tuple[Connection, int]:
        connection = tail.recv, tail.rank, tail.channel
        return connection, self._queue[connection]

    def _append(self, plan: _Plan) -> None:
        tail = plan.tail
        if not tail.events:
            self._opened[_end(tail)] += tail.send >= 0 or tail.recv >= 0
        self._tails[tail.rank, tail.send, tail.recv, tail.channel] = tail
        turns = frozenset(self._always[plan.event])
        tail.events.append(Event(plan.event, tuple(reversed(plan.named)), turns))
        tail.waits = plan.waits
        tail.known = plan.known | 1 << plan.event
        self._known[plan.event] = plan.known
        self._after[plan.event] = plan.waits
        if tail.recv >= 0:
            self._queue[self._next(tail)[0]] += 1
