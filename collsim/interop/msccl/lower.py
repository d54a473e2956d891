"""An MSCCL program as a schedule of messages.

A send and the receive that it is matched with become one message, a step that receives and
sends two, a local step a message to oneself. What a message waits for is what its steps wait
for, see :mod:`collsim.interop.msccl.waits`, and what the data ask for.
"""

from collections import defaultdict
from dataclasses import dataclass

from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.interop.msccl.flow import Connection, Flow
from collsim.interop.msccl.messages import Messages
from collsim.interop.msccl.places import Placement, place_all
from collsim.interop.msccl.program import (
    LOCAL,
    RECEIVES,
    SENDS,
    Program,
    WrongScheduleError,
)
from collsim.interop.msccl.races import Location, touched
from collsim.interop.msccl.units import Unit
from collsim.interop.msccl.waits import Waits, merged

__all__ = ["Lowered", "lower"]


@dataclass(frozen=True)
class Lowered:
    """A schedule, and for every operation the units that it stands for."""

    schedule: Schedule
    units: tuple[tuple[int, ...], ...]


def lower(program: Program, flow: Flow) -> Lowered:
    """Return the schedule of a program.

    Notes
    -----
    In a schedule a message is read and written between its start and its end. Two GPUs that
    swap their data in place, each through what its connection holds, can't be told like that:
    there the message goes to a scratch place, and the receiver moves it from there.

    Raises
    ------
    WrongScheduleError
        If an output is never written, or what collsim wrote into the file contradicts itself.
    """
    placement = place_all(program, flow)
    parked: set[int] = set()
    while True:
        making = _Making(program, flow, placement.copy(), parked)
        order = making.messages.order()
        if order is not None:
            schedule = making.messages.schedule(order, program, making.placement)
            units = (making.messages[m].units for m in order)
            return Lowered(schedule, tuple(tuple(dict.fromkeys(mine)) for mine in units))
        parked |= making.in_circles()


class _Making:
    """One pass over the steps, in an order in which they can be done.

    The receives of `parked` go by way of a scratch place.
    """

    def __init__(
        self, program: Program, flow: Flow, placement: Placement, parked: set[int]
    ) -> None:
        self.program, self.flow, self.placement = program, flow, placement
        self.parked = parked
        self.messages = Messages()
        # Of every unit: the message that it sends, and the one that ends with it.
        self._sent: dict[int, int] = {}
        self._ended: dict[int, int] = {}
        self._after: dict[int, Waits] = {}
        # Where the sums of a step that only passes them on are kept.
        self._passed_on: dict[Location, int] = {}
        self._queue: dict[Connection, int] = defaultdict(int)
        self._written: set[Location] = set(placement.given)
        self._sums = self._all_sums()
        for position, u in enumerate(flow.order):
            self._unit(u, position)
        self._land(len(flow.order))

    def in_circles(self) -> set[int]:
        """Return the receives of messages that wait for themselves, by way of others."""
        found = {
            u
            for m in self.messages.circular()
            for u in self.messages[m].units
            if u in self.flow.sender and self._sent.get(self.flow.sender[u]) == m
        }
        if found <= self.parked:
            raise WrongScheduleError("its messages wait for each other in a circle")
        return found

    def _unit(self, u: int, position: int) -> None:
        unit = self.flow.units[u]
        step = unit.step
        targets, turns, inherited = self._awaited(u)
        before = merged([self._before(unit), *inherited])
        after = before
        self._check(unit)
        if step.type in LOCAL:
            after = self._local(u, position, targets | turns, before)
        if step.type in RECEIVES:
            self._receive(u, position, turns, before)
            connection = self.flow.connection[u]
            after = before.received(connection, self._queue[connection], self._ended[u])
            self._queue[connection] += 1
        if step.type in SENDS:
            self._send(u, position, targets | turns, before)
        self._after[u] = after
        self._written.update(touched(self.program, unit.rank, step)[1])

    def _before(self, unit: Unit) -> Waits:
        return self._after[unit.previous] if unit.previous >= 0 else Waits()

    def _awaited(self, u: int) -> tuple[set[int], set[int], list[Waits]]:
        """Return the messages that a step waits for by name, and what comes with them.

        First those that have ended there, then those whose end a turn waits for.
        """
        targets: set[int] = set()
        turns: set[int] = set()
        inherited: list[Waits] = []
        mine = self._sums.get(u, set())
        for d in self.flow.units[u].waits:
            if d in self.flow.units[u].turns:
                turns.add(self._ended[d] if d in self._ended else self._sent[d])
            elif not mine.isdisjoint(self._sums.get(d, ())):
                # Sums into one place take turns, but do not hold each other's messages up.
                continue
            elif d in self._ended:
                targets.add(self._ended[d])
            inherited.append(self._after[d])
        return targets, turns, inherited

    def _all_sums(self) -> dict[int, set[Location]]:
        """Return, of every step that adds, the chunks that its message adds to."""
        found: dict[int, set[Location]] = {}
        by_number: dict[int, set[Location]] = {}
        for u, unit in enumerate(self.flow.units):
            if not unit.step.reduces:
                continue
            reads, writes = touched(self.program, unit.rank, unit.step)
            own = self.flow.units[self.flow.sender.get(u, u)].step.op
            found[u] = set() if own is None else by_number.setdefault(own, set())
            found[u].update(reads if unit.step.type == "rrs" else writes)
        return found

    def _check(self, unit: Unit) -> None:
        """Refuse to read what nobody has written; a place of a schedule is empty there."""
        reads, writes = touched(self.program, unit.rank, unit.step)
        name = self.program.where(unit.rank, unit.block, unit.at)
        for where in reads:
            if where not in self._written:
                raise WrongScheduleError(
                    f"{name} reads {where[1]}[{where[2]}], which no step has written"
                )
        if unit.step.adds and any(w[1] != "s" or w in self._written for w in writes):
            raise WrongScheduleError(f"{name} has adds, which is for empty scratch chunks")

    # What a step does -------------------------------------------------------------------

    def _local(self, u: int, position: int, targets: set[int], before: Waits) -> Waits:
        unit = self.flow.units[u]
        reads, writes = touched(self.program, unit.rank, unit.step)
        pairs = [
            (a, b)
            for a, b in zip(self._at(reads), self._at(writes), strict=False)
            if a != b or unit.step.reduces
        ]
        if not pairs:
            return before
        m = self.messages.new(unit.rank, unit.rank, position, unit.step, u)
        self.messages.reads(m, [a for a, _ in pairs], targets | before.messages())
        self.messages.writes(m, [b for _, b in pairs], _kind(unit), set())
        self._ended[u] = m
        return Waits(others=frozenset({m}))

    def _send(self, u: int, position: int, targets: set[int], before: Waits) -> None:
        unit = self.flow.units[u]
        reads, writes = touched(self.program, unit.rank, unit.step)
        if unit.step.type == "rrs":
            places = [self._passed_on[where] for where in reads]
        else:
            places = self._at(reads if unit.step.type == "s" else writes)
        waits = targets | before.messages()
        if unit.step.type != "s":
            waits.add(self._ended[u])
        peer = self.program.gpus[unit.rank].blocks[unit.block].send
        self._sent[u] = self.messages.new(unit.rank, peer, position, unit.step, u)
        self.messages.reads(self._sent[u], places, waits)

    def _receive(self, u: int, position: int, turns: set[int], before: Waits) -> None:
        unit = self.flow.units[u]
        m = self._sent[self.flow.sender[u]]
        reads, writes = touched(self.program, unit.rank, unit.step)
        waits = turns | before.messages()
        into = self._at(writes)
        if unit.step.type == "rrs":
            self._passed_on = {where: self._sum_place(u, where) for where in reads}
            into = [self._passed_on[where] for where in reads]
        if unit.step.reduces and not unit.step.adds:
            # What is added to may lie elsewhere: then it is brought there first.
            pairs = [(a, b) for a, b in zip(self._at(reads), into, strict=True) if a != b]
            if pairs:
                first = self.messages.local(unit.rank, position, pairs, COPY, waits)
                self.messages[first].units.append(u)
        self.messages[m].units.append(u)
        self._ended[u] = m
        if u not in self.parked:
            self.messages.writes(m, into, _kind(unit), turns)
            return
        landed = [self.placement.fresh(unit.rank) for _ in into]
        self.messages.writes(m, landed, COPY, set())
        pairs = list(zip(landed, into, strict=True))
        self._ended[u] = self.messages.local(unit.rank, position, pairs, _kind(unit), waits)
        self.messages[self._ended[u]].units.append(u)

    def _sum_place(self, u: int, where: Location) -> int:
        """Return where a sum that is only passed on is kept: where nobody misses it."""
        placement = self.placement
        overwritten = where not in placement.needed
        for v in placement.users[where]:
            if v == u or placement.masks[u] >> v & 1:
                continue
            unit = self.flow.units[v]
            if where in touched(self.program, unit.rank, unit.step)[0]:
                return placement.fresh(where[0])
            overwritten = True
        return placement.place[where] if overwritten else placement.fresh(where[0])

    def _land(self, position: int) -> None:
        """Move results to where they must be in the end."""
        for rank in sorted({rank for rank, _, _ in self.placement.landing}):
            pairs = [(a, b) for r, a, b in self.placement.landing if r == rank]
            self.messages.local(rank, position, pairs, COPY, set())

    def _at(self, locations: list[Location]) -> list[int]:
        return [self.placement.place[where] for where in locations]


def _kind(unit: Unit) -> int:
    return REDUCE if unit.step.reduces else COPY
