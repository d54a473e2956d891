"""Messages in the making, and the schedule that they become."""

from dataclasses import dataclass, field

import numpy as np

from collsim.core.collective import collective
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.interop._order import Phases, circular, depths, in_order, reduced
from collsim.interop.msccl.places import Placement
from collsim.interop.msccl.program import OwnWordsError, Program, Step

__all__ = ["Message", "Messages"]


@dataclass
class Message:
    """One operation; `own` is its number where collsim wrote one, `at` when it was found."""

    src: int
    dst: int
    at: int
    kind: int = COPY
    channel: int = 0
    round: int | None = None
    own: int | None = None
    units: list[int] = field(default_factory=list)
    piece: list[int] = field(default_factory=list)
    into: list[int] = field(default_factory=list)
    waits: set[int] = field(default_factory=set)


class Messages:
    """All messages of a program."""

    def __init__(self) -> None:
        self.all: list[Message] = []
        self._numbered: dict[int, int] = {}
        self._phases = Phases()

    def __getitem__(self, m: int) -> Message:
        return self.all[m]

    def new(self, src: int, dst: int, at: int, step: Step | None = None, unit: int = -1) -> int:
        """Return the number of a message: a new one, or the one that the step is a part of."""
        own = None if step is None else step.op
        if own is not None and own in self._numbered:
            m = self._numbered[own]
        else:
            m = len(self.all)
            self.all.append(Message(src, dst, at, own=own))
            if own is not None:
                self._numbered[own] = m
        message = self.all[m]
        if (message.src, message.dst) != (src, dst):
            raise OwnWordsError(
                f"op {own} goes from {message.src} to {message.dst} and from {src} to {dst}"
            )
        if step is not None:
            message.channel, message.round = step.channel or 0, step.round
        if unit >= 0:
            message.units.append(unit)
        return m

    def reads(self, m: int, places: list[int], waits: set[int]) -> None:
        """Let a message read places of its sender, after what it waits for."""
        message = self.all[m]
        message.piece += places
        message.waits |= waits
        for place in places:
            message.waits.update(self._phases.access(m, (message.src, place), "read"))
        message.waits.discard(m)

    def writes(self, m: int, places: list[int], kind: int, waits: set[int]) -> None:
        """Let a message write places of its receiver, after what it waits for there."""
        message = self.all[m]
        if message.into and message.kind != kind:
            raise OwnWordsError(f"op {message.own} copies and reduces, expected one of them")
        message.kind = kind
        message.into += places
        message.waits |= waits
        how = "reduce" if kind == REDUCE else "copy"
        for place in places:
            message.waits.update(self._phases.access(m, (message.dst, place), how))
        message.waits.discard(m)

    def local(
        self, rank: int, at: int, pairs: list[tuple[int, int]], kind: int, waits: set[int]
    ) -> int:
        """Return the number of a new message of a rank to itself, from places to places."""
        m = self.new(rank, rank, at)
        self.reads(m, [a for a, _ in pairs], waits)
        self.writes(m, [b for _, b in pairs], kind, set())
        return m

    def order(self) -> list[int] | None:
        """Return the messages in the order of the schedule; None where they wait in circles."""
        numbered = {message.own is not None for message in self.all}
        if len(numbered) > 1:
            raise OwnWordsError("some steps have an op and others have none")
        if numbered == {True}:
            return self._own_order()
        waits = [message.waits for message in self.all]
        rounds = depths(waits, [message.src != message.dst for message in self.all])
        if rounds is None:
            return None
        for message, number in zip(self.all, rounds, strict=True):
            message.round = number
        return in_order(waits, [(m.round or 0, m.at) for m in self.all])

    def _own_order(self) -> list[int]:
        """Return the messages in the order that collsim wrote."""
        order = sorted(range(len(self.all)), key=lambda m: self.all[m].own or 0)
        if [self.all[m].own for m in order] != list(range(len(order))):
            raise OwnWordsError("op does not count all messages from 0 up")
        place = {m: i for i, m in enumerate(order)}
        for m in order:
            if any(place[d] > place[m] for d in self.all[m].waits):
                raise OwnWordsError(
                    f"op {self.all[m].own} waits for a message with a larger op"
                )
        return order

    def circular(self) -> set[int]:
        """Return messages that wait for themselves, by way of others."""
        return circular([message.waits for message in self.all])

    def schedule(self, order: list[int], program: Program, placement: Placement) -> Schedule:
        """Return the schedule."""
        place = {m: i for i, m in enumerate(order)}
        messages = [self.all[m] for m in order]
        dep_ptr, dep = reduced([[place[d] for d in m.waits] for m in messages])
        widths = [len(m.piece) for m in messages]
        return Schedule(
            collective=collective(program.collective),
            ranks=len(program.gpus),
            root=program.root,
            parts=placement.parts,
            scratch=placement.scratch,
            src=np.array([m.src for m in messages], dtype=np.int32),
            dst=np.array([m.dst for m in messages], dtype=np.int32),
            kind=np.array([m.kind for m in messages], dtype=np.int8),
            channel=np.array([m.channel for m in messages], dtype=np.int16),
            round=np.array([m.round or 0 for m in messages], dtype=np.int32),
            piece_ptr=np.concatenate(([0], np.cumsum(widths))).astype(np.int64),
            piece=np.array([p for m in messages for p in m.piece], dtype=np.int32),
            into=np.array([p for m in messages for p in m.into], dtype=np.int32),
            dep_ptr=dep_ptr,
            dep=dep,
        )
