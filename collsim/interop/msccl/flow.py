"""Run an MSCCL program without data: who receives what from whom, and what waits for ever.

A connection is a queue: of a pair of GPUs and a channel, the k-th send is the k-th receive.
A thread block does its steps one after the other. A step that waits for another thread block
goes on when that one has announced the step, or a later one.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from collsim.interop.msccl.program import RECEIVES, SENDS, Program, WrongScheduleError
from collsim.interop.msccl.units import Unit, in_chunks, units_of

__all__ = ["Connection", "Flow", "follow", "slots_of"]

Connection = tuple[int, int, int]

# What a message of a connection is held in until it is received: NCCL_STEPS slots, of which
# Simple takes MSCCL_CHUNKSTEPS a message.
_SLOTS: Final = {"Simple": 2, "LL": 8, "LL128": 8}
_SHOWN: Final = 3


def slots_of(program: Program) -> int:
    """Return how many messages of a connection may be under way in the runtime.

    At large sizes each of them is one chunk: a step of more goes through the slots in parts.
    """
    return _SLOTS[program.protocol]


@dataclass(frozen=True)
class Flow:
    """How a program runs.

    Parameters
    ----------
    units : tuple of Unit
        All steps that do something, by rank, thread block and place.
    order : tuple of int
        Units in an order in which they can be done.
    sender : dict of int to int
        Of every receiving unit, the sending one.
    connection : dict of int to Connection
        Of every receiving unit: source, destination, channel.
    """

    units: tuple[Unit, ...]
    order: tuple[int, ...]
    sender: dict[int, int]
    connection: dict[int, Connection]


def follow(program: Program, slots: int | None = None, *, by_chunk: bool = False) -> Flow:
    """Run a program, step by step.

    Parameters
    ----------
    program : Program
        What to run.
    slots : int, optional
        So many messages of a connection may be under way; any number by default.
    by_chunk : bool
        Whether a step of several chunks is one message after the other; units are then of one
        chunk.

    Raises
    ------
    WrongScheduleError
        If a step waits for ever, a message is never received, or the two ends of one have
        different numbers of chunks.

    Examples
    --------
    >>> from collsim.interop.msccl.program import Block, Gpu, Step
    >>> ends = (Block(1, -1, 0, (Step("s", ("i", 0)),)), Block(-1, 0, 0, (Step("r"),)))
    >>> gpus = tuple(Gpu({"i": 1, "o": 0, "s": 0}, (block,)) for block in ends)
    >>> follow(Program("a", "LL", "broadcast", 0, True, 1, 1, (0, 8), gpus)).sender
    {1: 0}
    """
    units = units_of(program)
    if by_chunk:
        units = in_chunks(units, slots or 1)
    run = _Run(program, units, slots)
    run.go()
    return Flow(units, tuple(run.order), run.sender, run.connection)


class _Run:
    """The state of a run."""

    def __init__(self, program: Program, units: Sequence[Unit], slots: int | None) -> None:
        self.program = program
        self.units = units
        self.slots = slots
        self.order: list[int] = []
        self.sender: dict[int, int] = {}
        self.connection: dict[int, Connection] = {}
        self._done = [False] * len(units)
        self._sent: dict[Connection, list[int]] = defaultdict(list)
        self._received: dict[Connection, int] = defaultdict(int)
        self._ends: dict[Connection, tuple[set[int], set[int]]] = {}
        self._chains: list[list[int]] = []
        for u, unit in enumerate(units):
            if unit.previous < 0:
                self._chains.append([])
            self._chains[-1].append(u)

    def go(self) -> None:
        """Do every step, or say which one can't be."""
        self._check_connections()
        at = [0] * len(self._chains)
        moving = True
        while moving:
            moving = False
            for c, chain in enumerate(self._chains):
                while at[c] < len(chain) and self._ready(chain[at[c]]):
                    self._do(chain[at[c]])
                    at[c] += 1
                    moving = True
        stuck = [chain[i] for chain, i in zip(self._chains, at, strict=True) if i < len(chain)]
        if stuck:
            raise WrongScheduleError(self._explain(stuck))
        for connection, sends in self._sent.items():
            if len(sends) > self._received[connection]:
                _, there, channel = connection
                raise WrongScheduleError(
                    f"{self._where(sends[self._received[connection]])} sends to rank {there} "
                    f"on channel {channel} what rank {there} never receives"
                )

    def _where(self, u: int) -> str:
        unit = self.units[u]
        return self.program.where(unit.rank, unit.block, unit.at)

    def out(self, u: int) -> Connection:
        """Return the connection that a unit sends on."""
        unit = self.units[u]
        block = self.program.gpus[unit.rank].blocks[unit.block]
        return unit.rank, block.send, block.channel

    def into(self, u: int) -> Connection:
        """Return the connection that a unit receives from."""
        unit = self.units[u]
        block = self.program.gpus[unit.rank].blocks[unit.block]
        return block.recv, unit.rank, block.channel

    def _check_connections(self) -> None:
        for types, end, verb, place in (
            (SENDS, self.out, "send to", 1),
            (RECEIVES, self.into, "receive from", 0),
        ):
            owner: dict[Connection, int] = {}
            for u, unit in enumerate(self.units):
                if unit.step.type not in types:
                    continue
                connection = end(u)
                first = owner.setdefault(connection, unit.block)
                if first != unit.block:
                    raise WrongScheduleError(
                        f"rank {unit.rank}: thread blocks {first} and {unit.block} both "
                        f"{verb} rank {connection[place]} on channel {connection[2]}, in no "
                        "fixed order"
                    )

    def _ready(self, u: int) -> bool:
        unit = self.units[u]
        if not all(self._done[w] for w in unit.waits):
            return False
        if unit.step.type in RECEIVES:
            connection = self.into(u)
            if len(self._sent[connection]) == self._received[connection]:
                return False
        if self.slots is None or unit.step.type not in SENDS:
            return True
        connection = self.out(u)
        return len(self._sent[connection]) - self._received[connection] < self.slots

    def _why_not(self, u: int) -> tuple[str, int | None]:
        """Return what a unit waits for in words, and the unit that would bring it."""
        unit = self.units[u]
        for w in unit.waits:
            if not self._done[w]:
                return f"for {self._where(w)}", w
        if unit.step.type in RECEIVES:
            connection = self.into(u)
            if len(self._sent[connection]) == self._received[connection]:
                here, _, channel = connection
                return (
                    f"for a message from rank {here} on channel {channel}",
                    self._next(connection, SENDS, self.out, len(self._sent[connection])),
                )
        connection = self.out(u)
        reason = (
            f"until rank {connection[1]} has received one of the {self.slots} messages under "
            f"way on channel {connection[2]}"
        )
        done = self._received[connection]
        return reason, self._next(connection, RECEIVES, self.into, done)

    def _next(
        self,
        connection: Connection,
        types: frozenset[str],
        end: Callable[[int], Connection],
        done: int,
    ) -> int | None:
        """Return the next unit that sends to, or receives from, a connection."""
        mine = (
            u
            for u, unit in enumerate(self.units)
            if unit.step.type in types and end(u) == connection
        )
        return next(islice(mine, done, None), None)

    def _do(self, u: int) -> None:
        unit = self.units[u]
        if unit.step.type in RECEIVES:
            connection = self.into(u)
            s = self._sent[connection][self._received[connection]]
            self._received[connection] += 1
            if self.units[s].step.count != unit.step.count:
                raise WrongScheduleError(
                    f"{self._where(s)} sends {self.units[s].step.count} chunks, but "
                    f"{self._where(u)} receives {unit.step.count}"
                )
            self.sender[u] = s
            self.connection[u] = connection
        if unit.step.type in SENDS:
            self._sent[self.out(u)].append(u)
        self._done[u] = True
        self.order.append(u)

    def _explain(self, stuck: Sequence[int]) -> str:
        """Return which step waits for ever, for what, and why that does not come."""
        at = {(self.units[u].rank, self.units[u].block): u for u in stuck}
        seen: list[int] = []
        u = stuck[0]
        while u not in seen:
            seen.append(u)
            reason, cause = self._why_not(u)
            if cause is None:
                return f"{self._where(u)} waits for ever {reason}, which is never sent"
            u = at[self.units[cause].rank, self.units[cause].block]
        circle = seen[seen.index(u) :]
        said = [f"{self._where(c)} waits {self._why_not(c)[0]}" for c in circle]
        said[0] = said[0].replace(" waits ", " waits for ever ", 1)
        more = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
        return "; ".join(said[:_SHOWN]) + f"{more}: they wait in a circle"
