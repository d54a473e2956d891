"""Carry a plan out on a transport, and hold what came out against the collective."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from collsim.core.collective import Collective
from collsim.core.elements import block_counts
from collsim.errors import MeasureError
from collsim.measure.data import BATCH, contribution, expected
from collsim.measure.steps import Held, Plan
from collsim.measure.transport import Buffer, Message, Transport

__all__ = ["Executor", "Problem", "check_all", "held_in_order", "load", "wrong"]


class Problem:
    """What a collective is run on: its ranks, root, type and operation."""

    def __init__(self, kind: Collective, ranks: int, root: int, dtype: str, op: str) -> None:
        self.kind, self.ranks, self.root = kind, ranks, root
        self.dtype, self.op = dtype, op


class Executor:
    """One rank's part of a schedule, ready to be called.

    Parameters
    ----------
    plan : Plan
        What the rank does.
    transport : Transport
        Who moves the data.
    problem : Problem
        Type and operation.
    """

    def __init__(self, plan: Plan, transport: Transport, problem: Problem) -> None:
        self.plan, self.transport, self.problem = plan, transport, problem
        self.memory = transport.empty(plan.memory, problem.dtype)
        self.staging = transport.empty(plan.staging, problem.dtype)
        self._steps = [self._prepared(i) for i in range(len(plan.steps))]
        self._divided: list[Buffer] = []
        if problem.op == "avg" and problem.kind.reduces:
            self._divided = [self.memory[a:b] for a, b in (held.span for held in plan.outputs)]

    def __call__(self) -> None:
        """Carry it out once."""
        for step in self._steps:
            step()
        for buffer in self._divided:
            self.transport.divide(buffer, self.problem.ranks)

    def _prepared(self, number: int) -> Callable[[], None]:
        """Return a step with all slices made, so that only the work itself is timed."""
        step, go = self.plan.steps[number], self.transport
        op = self.problem.op
        gathers: list[tuple[Buffer, Buffer]] = []
        sends: list[Message] = []
        for leaving in step.departures:
            first = self.memory[slice(*leaving.spans[0])]
            if leaving.staged is not None:
                first = self.staging[slice(*leaving.staged)]
                gathers += self._pieces(leaving.staged[0], leaving.spans)
            sends.append((first, leaving.peer, leaving.tag))
        receives: list[Message] = []
        places: list[tuple[Buffer, Buffer, bool]] = []
        for coming in step.arrivals:
            into = self.memory[slice(*coming.spans[0])]
            if coming.staged is not None:
                into = self.staging[slice(*coming.staged)]
                pieces = self._pieces(coming.staged[0], coming.spans)
                places += [
                    (b, a, adds) for (a, b), adds in zip(pieces, coming.adds, strict=True)
                ]
            receives.append((into, coming.peer, coming.tag))
        places += [
            (self.memory[slice(*b)], self.memory[slice(*a)], adds) for a, b, adds in step.moves
        ]

        def run() -> None:
            for into, source in gathers:
                go.copy(into, source)
            if sends or receives:
                go.group(sends, receives)
            for into, source, adds in places:
                if adds:
                    go.combine(op, into, source)
                else:
                    go.copy(into, source)

        return run

    def _pieces(
        self, start: int, spans: Iterable[tuple[int, int]]
    ) -> list[tuple[Buffer, Buffer]]:
        """Return pairs of staged place and memory, of spans that are staged end to end."""
        made = []
        for a, b in spans:
            made.append((self.staging[start : start + b - a], self.memory[a:b]))
            start += b - a
        return made


def held_in_order(problem: Problem, rank: int, count: int, after: bool) -> tuple[Held, ...]:
    """Return the blocks of a rank end to end, as a library wants its buffers.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> problem = Problem(collective("all_gather"), 2, 0, "float", "sum")
    >>> [held.span for held in held_in_order(problem, 1, 6, after=True)]
    [(0, 3), (3, 6)]
    """
    kind, ranks, root = problem.kind, problem.ranks, problem.root
    counts = block_counts(kind, ranks, count, root)
    who, block = (kind.after if after else kind.before)(ranks, root)
    made, start = [], 0
    for b in np.sort(block[who == rank]).tolist():
        made.append(Held(b, 0, (start, start + counts[b])))
        start += counts[b]
    return tuple(made)


def _batches(held: Held) -> Iterator[tuple[int, int, int, int]]:
    """Yield pieces of few elements: first and last of the block, start and stop in memory."""
    start, stop = held.span
    for at in range(start, stop, BATCH):
        end = min(at + BATCH, stop)
        yield held.first + at - start, held.first + end - start, at, end


def load(
    transport: Transport, problem: Problem, buffer: Buffer, inputs: Iterable[Held]
) -> None:
    """Put a rank's contribution into its buffer."""
    how = problem.op if problem.kind.reduces else None
    for held in inputs:
        for first, last, start, stop in _batches(held):
            values = contribution(
                transport.rank, held.block, first, last, problem.ranks, problem.dtype, how
            )
            transport.load(buffer[start:stop], values)


def wrong(
    transport: Transport, problem: Problem, buffer: Buffer, outputs: Iterable[Held]
) -> int:
    """Return how many elements of this rank's result are not what they must be."""
    count = 0
    for held in outputs:
        for first, last, start, stop in _batches(held):
            must = expected(
                problem.kind, problem.ranks, problem.root, held.block, first, last,
                problem.dtype, problem.op,
            )  # fmt: skip
            count += int((transport.read(buffer[start:stop]) != must).sum())
    return count


def check_all(transport: Transport, mine: int, what: str) -> None:
    """Compare all ranks' counts of wrong elements; MeasureError if there is one."""
    counts = transport.exchange(np.array([float(mine)]))[:, 0]
    if counts.any():
        rank = int(np.flatnonzero(counts)[0])
        raise MeasureError(
            f"{what}: {int(counts.sum())} elements came out wrong, the first of them on "
            f"rank {rank}; nothing of it was timed"
        )
