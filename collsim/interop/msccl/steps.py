"""The events of thread blocks as steps: buffers, chunks, and numbers of steps to wait for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from collsim.core.schedule import REDUCE, Schedule
from collsim.errors import InputError
from collsim.interop.msccl.layout import NOWHERE, chunks_of, declared, inputs, outputs
from collsim.interop.msccl.program import Block, Chunk, Gpu, Program, Step

__all__ = ["Event", "write_steps"]

# The runtime takes less than 72 chunks a step.
_MOST_CHUNKS: Final = 71
_LARGEST: Final = 2**40
# Collectives whose input and output can't be one buffer.
_APART: Final = frozenset({"all_to_all", "sendrecv"})


class Event(NamedTuple):
    """The send (2 o) or receive (2 o + 1) of operation o, and the events that it waits for.

    Of a message to oneself 2 o is all. `turns` are those of the events that hold the message
    itself up, though no data ask for it.
    """

    number: int
    waits: tuple[int, ...]
    turns: frozenset[int] = frozenset()


class _Run(NamedTuple):
    """Chunks that follow each other, at the sender and at the receiver."""

    source: Chunk
    target: Chunk
    length: int
    adds: bool


def write_steps(
    schedule: Schedule,
    name: str,
    protocol: str,
    blocks: Iterable[tuple[int, int, int, int, Sequence[Event]]],
) -> Program:
    """Return the program of thread blocks.

    Parameters
    ----------
    schedule : Schedule
        Of which the events are.
    name, protocol : str
        As in :class:`~collsim.interop.msccl.program.Program`.
    blocks : iterable
        Rank, send, recv, channel and events of every thread block. Those of a rank are numbered
        in this order, by which a reader tells what comes first of what could go at once.

    Raises
    ------
    InputError
        If a message carries nothing, or what a rank brings is overwritten where the collective
        has two buffers.
    """
    writing = _Writing(schedule, name)
    mine: dict[int, list[tuple[int, int, int, Sequence[Event]]]] = defaultdict(list)
    for rank, send, recv, channel, events in blocks:
        mine[rank].append((send, recv, channel, events))
    announced = {d for parts in mine.values() for *_, es in parts for e in es for d in e.waits}
    gpus = tuple(writing.gpu(rank, mine[rank], announced) for rank in range(schedule.ranks))
    kind = schedule.collective.name
    return Program(
        name=name,
        protocol=protocol,
        collective=kind,
        root=schedule.root,
        in_place=not writing.apart,
        chunks=chunks_of(kind, schedule.ranks, schedule.parts),
        channels=max((block.channel + 1 for gpu in gpus for block in gpu.blocks), default=1),
        sizes=(0, _LARGEST),
        gpus=gpus,
        scratch=schedule.scratch,
    )


class _Writing:
    """Where the places of a schedule lie in buffers, and the runs of every operation."""

    def __init__(self, schedule: Schedule, name: str) -> None:
        self.schedule, self.name = schedule, name
        self.kind = schedule.collective.name
        self.apart = self.kind in _APART and schedule.ranks > 1
        used: dict[int, set[int]] = defaultdict(set)
        for o in range(len(schedule)):
            used[int(schedule.src[o])].update(schedule.carried(o).tolist())
            used[int(schedule.dst[o])].update(schedule.written(o).tolist())
        self.whole: dict[int, list[tuple[Chunk, Chunk]]] = {}
        self.chunk = [self._chunks(rank, used[rank]) for rank in range(schedule.ranks)]
        self._held = [set(self._given(rank)) for rank in range(schedule.ranks)]
        self.runs = [self._runs(o) for o in range(len(schedule))]

    def _given(self, rank: int) -> list[int]:
        schedule = self.schedule
        pieces = inputs(self.kind, rank, schedule.ranks, schedule.root, schedule.parts)
        return [piece for piece in pieces if piece != NOWHERE]

    def _chunks(self, rank: int, used: set[int]) -> Mapping[int, Chunk]:
        """Return buffer and chunk of every place of a rank that is used."""
        schedule = self.schedule
        found: dict[int, Chunk] = {}
        if not self.apart:
            buffer = "o" if self.kind == "all_gather" else "i"
            found = {place: (buffer, place) for place in used if place < schedule.pieces}
        else:
            own = inputs(self.kind, rank, schedule.ranks, schedule.root, schedule.parts)
            result = outputs(self.kind, rank, schedule.ranks, schedule.root, schedule.parts)
            found = {piece: ("i", chunk) for chunk, piece in enumerate(own)}
            self.whole[rank] = []
            for chunk, piece in enumerate(result):
                if piece in found:
                    self.whole[rank].append((found[piece], ("o", chunk)))
                else:
                    found[piece] = "o", chunk
        rest = sorted(used - found.keys())
        found.update({place: ("s", chunk) for chunk, place in enumerate(rest)})
        return found

    def _runs(self, o: int) -> list[_Run]:
        schedule = self.schedule
        src, dst = int(schedule.src[o]), int(schedule.dst[o])
        reads, writes = schedule.carried(o).tolist(), schedule.written(o).tolist()
        if not reads:
            raise InputError(f"{self.name}: operation {o} carries nothing, expected a chunk")
        reduces = schedule.kind[o] == REDUCE
        held = self._held[dst]
        runs: list[_Run] = []
        for a, b in zip(reads, writes, strict=True):
            source, target = self.chunk[src][a], self.chunk[dst][b]
            if self.apart and target[0] == "i":
                raise InputError(
                    f"{self.name}: operation {o} overwrites what rank {dst} brings, which "
                    f"{self.kind} has a buffer of its own for"
                )
            adds = bool(reduces) and b not in held
            held.add(b)
            if runs and _follows(runs[-1], source, target, adds):
                runs[-1] = runs[-1]._replace(length=runs[-1].length + 1)
            else:
                runs.append(_Run(source, target, 1, adds))
        return runs

    def gpu(
        self,
        rank: int,
        blocks: Sequence[tuple[int, int, int, Sequence[Event]]],
        announced: set[int],
    ) -> Gpu:
        """Return a GPU with the steps of its thread blocks."""
        place: dict[int, tuple[int, int]] = {}
        for number, (*_, events) in enumerate(blocks):
            step = 0
            for event in events:
                step += max(0, len(event.waits) - 1) + len(self.runs[event.number >> 1])
                place[event.number] = number, step - 1
        made = []
        for send, recv, channel, events in blocks:
            steps: list[Step] = []
            for event in events:
                waits = [(place[d], d in event.turns) for d in event.waits]
                steps += [
                    Step("nop", ("i", -1), ("o", -1), 0, wait, turn=turn)
                    for wait, turn in waits[:-1]
                ]
                own = self._steps(event.number, event.number in announced)
                if waits:
                    own[0] = replace(own[0], wait=waits[-1][0], turn=waits[-1][1])
                steps += own
            alone = send == recv == -1
            made.append(Block(send, recv, 0 if alone else channel, tuple(steps)))
        copies = [Step("cpy", a, b) for a, b in self.whole.get(rank, ())]
        if copies:
            made.append(Block(-1, -1, 0, tuple(_joined(copies))))
        schedule = self.schedule
        chunks = chunks_of(self.kind, schedule.ranks, schedule.parts)
        sizes = dict(zip("io", declared(self.kind, schedule.ranks, chunks), strict=True))
        if not self.apart:
            sizes["i" if self.kind == "all_gather" else "o"] = 0
        kept = {c: p for p, (buffer, c) in self.chunk[rank].items() if buffer == "s"}
        return Gpu({**sizes, "s": len(kept)}, tuple(made), kept)

    def _steps(self, event: int, announces: bool) -> list[Step]:
        schedule = self.schedule
        o = event >> 1
        local = schedule.src[o] == schedule.dst[o]
        reduces = bool(schedule.kind[o] == REDUCE)
        runs = self.runs[o]
        steps = []
        for i, run in enumerate(runs):
            adding = reduces and not run.adds
            source = run.source
            if local:
                kind = "re" if adding else "cpy"
            elif event & 1:
                kind = "rrc" if adding else "r"
                source = run.target if adding else run.source
            else:
                kind = "s"
            first = event & 1 == 0
            steps.append(
                Step(
                    kind,
                    source,
                    run.target,
                    run.length,
                    None,
                    announces and i == len(runs) - 1,
                    op=o if first else None,
                    round=int(schedule.round[o]) if first else None,
                    channel=int(schedule.channel[o]) or None if first else None,
                    adds=run.adds and kind != "s",
                )
            )
        return steps


def _follows(run: _Run, source: Chunk, target: Chunk, adds: bool) -> bool:
    (a, i), (b, j), length, before = run
    return (
        length < _MOST_CHUNKS
        and source == (a, i + length)
        and target == (b, j + length)
        and adds == before
    )


def _joined(copies: Sequence[Step]) -> list[Step]:
    """Return copies of single chunks with those that follow each other in one."""
    found: list[Step] = []
    for step in copies:
        if found and _follows(
            _Run(found[-1].source, found[-1].target, found[-1].count, False),
            step.source,
            step.target,
            False,
        ):
            last = found.pop()
            step = Step("cpy", last.source, last.target, last.count + 1)  # noqa: PLW2901
        found.append(step)
    return found
