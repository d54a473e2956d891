"""Right schedules of many kinds, and what becomes of them when somebody errs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from collsim.algorithms import algorithm_names, build, find, refusal, variants
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.core.setting import Setting


@dataclass(frozen=True)
class Listed:
    """A schedule as the data oracle takes it: what it is for, and its operations."""

    kind: str
    ranks: int
    root: int
    parts: int
    scratch: int
    operations: tuple[Any, ...]

    @property
    def places(self) -> int:
        """Places of every rank."""
        return collective(self.kind).blocks(self.ranks) * self.parts + self.scratch

    @property
    def parties(self) -> int:
        """Ranks, and switches that take part."""
        return max([self.ranks, *(1 + max(op.src, op.dst) for op in self.operations)])

    def schedule(self) -> Schedule:
        """Return the schedule that is to be verified."""
        ops = self.operations
        return Schedule(
            collective=collective(self.kind),
            ranks=self.ranks,
            root=self.root,
            parts=self.parts,
            scratch=self.scratch,
            src=np.array([op.src for op in ops], dtype=np.int32),
            dst=np.array([op.dst for op in ops], dtype=np.int32),
            kind=np.array([REDUCE if op.reduces else COPY for op in ops], dtype=np.int8),
            channel=np.zeros(len(ops), dtype=np.int16),
            round=np.arange(len(ops), dtype=np.int32),
            piece_ptr=np.cumsum([0, *(len(op.reads) for op in ops)], dtype=np.int64),
            piece=np.array([p for op in ops for p in op.reads], dtype=np.int32),
            into=np.array([p for op in ops for p in op.writes], dtype=np.int32),
            dep_ptr=np.cumsum([0, *(len(op.waits) for op in ops)], dtype=np.int64),
            dep=np.array([d for op in ops for d in sorted(op.waits)], dtype=np.int32),
            agents=self.parties - self.ranks,
        )


def listed(oracle: ModuleType, schedule: Schedule) -> Listed:
    """Return a schedule as the data oracle takes it."""
    ends = zip(schedule.src.tolist(), schedule.dst.tolist(), strict=True)
    operations = tuple(
        oracle.Operation(
            src,
            dst,
            bool(schedule.kind[o] == REDUCE),
            tuple(schedule.carried(o).tolist()),
            tuple(schedule.written(o).tolist()),
            frozenset(schedule.waits_for(o).tolist()),
        )
        for o, (src, dst) in enumerate(ends)
    )
    return Listed(
        schedule.collective.name,
        schedule.ranks,
        schedule.root,
        schedule.parts,
        schedule.scratch,
        operations,
    )


def registered(oracle: ModuleType, rng: random.Random) -> Listed:
    """Return a schedule of a registered algorithm on few ranks."""
    while True:
        kind = rng.choice(COLLECTIVES)
        name = rng.choice(algorithm_names(kind))
        ranks = rng.randint(2, 6)
        node = rng.choice((None, [r // 2 for r in range(ranks)], [r % 2 for r in range(ranks)]))
        multicast = rng.random() < 0.5
        if refusal(kind, name, ranks, node, multicast) is not None:
            continue
        algorithm = find(kind, name)
        spec = rng.choice(variants(kind, name, Setting(ranks, node, multicast)))
        schedule = build(
            kind,
            spec,
            ranks,
            rng.randrange(ranks) if collective(kind).rooted else 0,
            rng.randint(1, 3) if algorithm.chunked else 1,
            node=node,
            channels=rng.randint(1, 2) if algorithm.channeled else 1,
            multicast=multicast,
        )
        if len(schedule) <= 60:
            return listed(oracle, schedule)


def by_trees(oracle: ModuleType, rng: random.Random) -> Listed:
    """Return a right schedule of no registered algorithm: up one random tree and down another.

    Some messages go by way of a scratch place, of which some are a rank's own; some parts go
    up or down through a switch. Reductions into one place come in any order.
    """
    kind = rng.choice(("all_reduce", "reduce", "broadcast"))
    ranks, parts = rng.randint(2, 4), rng.choice((1, 1, 2))
    root = rng.randrange(ranks)
    operations: list[Any] = []
    scratch = 0

    def send(src: int, dst: int, place: int, into: int, reduces: bool) -> None:
        nonlocal scratch
        if rng.random() < 0.2:
            # By way of a scratch place of either end, which is a message to oneself, or not.
            via = rng.choice((src, dst) if src < ranks else (dst,))
            operations.append(oracle.Operation(src, via, False, (place,), (parts + scratch,)))
            src, place, scratch = via, parts + scratch, scratch + 1
        operations.append(oracle.Operation(src, dst, reduces, (place,), (into,)))

    for part in range(parts):
        end, others = root, [r for r in range(ranks) if r != root]
        if kind != "broadcast":
            rng.shuffle(others)
            top = rng.randrange(ranks) if kind == "all_reduce" else root
            up = [r for r in range(ranks) if r != top]
            rng.shuffle(up)
            if rng.random() < 0.2:
                operations += [
                    oracle.Operation(src, ranks, True, (part,), (part,)) for src in (*up, top)
                ]
                operations.append(oracle.Operation(ranks, top, False, (part,), (part,)))
            else:
                for i, src in enumerate(up):
                    send(src, rng.choice([*up[i + 1 :], top]), part, part, True)
            end, others = top, [r for r in range(ranks) if r != top]
        if kind != "reduce":
            have = [end]
            if rng.random() < 0.2:
                # The switch multicasts what one rank hands to it.
                operations.append(oracle.Operation(end, ranks, False, (part,), (part,)))
                have = [ranks]
            rng.shuffle(others)
            for dst in others:
                send(rng.choice(have), dst, part, part, False)
                if have != [ranks]:
                    have.append(dst)
    found = Listed(kind, ranks, root if kind != "all_reduce" else 0, parts, scratch, ())
    return derived(oracle, replace(found, operations=tuple(operations)))


def derived(oracle: ModuleType, one: Listed) -> Listed:
    """Return the same operations with all dependencies that conflicts ask for."""
    waits = oracle.conflicts(one.operations)
    ops = [replace(op, waits=w) for op, w in zip(one.operations, waits, strict=True)]
    return replace(one, operations=tuple(ops))


def shuffled(rng: random.Random, one: Listed) -> Listed:
    """Return the operations in another order that their dependencies allow."""
    ops, number = one.operations, {}
    while len(number) < len(ops):
        free = [o for o, op in enumerate(ops) if o not in number and op.waits <= set(number)]
        number[rng.choice(free)] = len(number)
    order = sorted(number, key=number.__getitem__)
    moved = [replace(ops[o], waits=frozenset(number[d] for d in ops[o].waits)) for o in order]
    return replace(one, operations=tuple(moved))


def _without(ops: Sequence[Any], gone: int, heirs: frozenset[int]) -> tuple[Any, ...]:
    """Return all operations but one, for which `heirs` are waited instead."""
    kept = []
    for o, op in enumerate(ops):
        if o != gone:
            waits = op.waits - {gone} | (heirs if gone in op.waits else frozenset())
            kept.append(replace(op, waits=frozenset(d - (d > gone) for d in waits)))
    return tuple(kept)


def _with(ops: Sequence[Any], at: int, new: Any) -> tuple[Any, ...]:
    """Return the operations and one more, before number `at`."""
    after = [replace(op, waits=frozenset(d + (d >= at) for d in op.waits)) for op in ops[at:]]
    return (*ops[:at], new, *after)


Error = Callable[[Any, random.Random, Listed], Any]


def a_dependency_less(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Forget one of the operations that one waits for."""
    ops = list(one.operations)
    waiting = [o for o, op in enumerate(ops) if op.waits]
    if not waiting:
        return None
    o = rng.choice(waiting)
    ops[o] = replace(ops[o], waits=ops[o].waits - {rng.choice(sorted(ops[o].waits))})
    return ops


def a_dependency_more(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Wait for any operation before."""
    ops = list(one.operations)
    if len(ops) < 2:
        return None
    o = rng.randrange(1, len(ops))
    ops[o] = replace(ops[o], waits=ops[o].waits | {rng.randrange(o)})
    return ops


def swapped_sources(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Let each of two send what the other should."""
    ops = list(one.operations)
    a, b = rng.randrange(len(ops)), rng.randrange(len(ops))
    ops[a], ops[b] = replace(ops[a], src=ops[b].src), replace(ops[b], src=ops[a].src)
    return ops


def another_end(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Send from, or to, another rank or switch: maybe oneself."""
    ops = list(one.operations)
    o, end = rng.randrange(len(ops)), rng.choice(("src", "dst"))
    ops[o] = replace(ops[o], **{end: rng.randrange(one.parties)})
    return ops


def another_place(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Read, or write, another place."""
    ops = list(one.operations)
    o, of = rng.randrange(len(ops)), rng.choice(("reads", "writes"))
    places = list(getattr(ops[o], of))
    if not places:
        return None
    places[rng.randrange(len(places))] = rng.randrange(one.places)
    ops[o] = replace(ops[o], **{of: tuple(places)})
    return ops


def another_kind(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Reduce where it should overwrite, or the other way around."""
    ops = list(one.operations)
    o = rng.randrange(len(ops))
    ops[o] = replace(ops[o], reduces=not ops[o].reduces)
    return ops


def an_operation_less(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Forget an operation; who waited for it waits for what it waited for, or for nothing."""
    gone = rng.randrange(len(one.operations))
    heirs = rng.choice((one.operations[gone].waits, frozenset()))
    return _without(one.operations, gone, heirs)


def an_operation_twice(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Repeat an operation: after the first one, or beside it."""
    o = rng.randrange(len(one.operations))
    again = one.operations[o]
    if rng.random() < 0.5:
        again = replace(again, waits=again.waits | {o})
    return _with(one.operations, o + 1, again)


def an_operation_more(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Do something that nobody asked for."""
    at = rng.randint(0, len(one.operations))
    waits = frozenset(rng.sample(range(at), min(at, rng.randint(0, 2))))
    read, written = ((rng.randrange(one.places),) for _ in range(2))
    ends = rng.randrange(one.parties), rng.randrange(one.parties)
    new = oracle.Operation(*ends, rng.random() < 0.5, read, written, waits)
    return _with(one.operations, at, new)


def a_message_to_oneself(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Move data about in one memory, after all that came before and before all that follows."""
    at, rank = rng.randint(0, len(one.operations)), rng.randrange(one.parties)
    many = rng.randint(1, min(3, one.places))
    read, written = (tuple(rng.sample(range(one.places), many)) for _ in range(2))
    new = oracle.Operation(rank, rank, rng.random() < 0.3, read, written)
    ops = tuple(_with(one.operations, at, new))
    return derived(oracle, replace(one, operations=ops)).operations


def a_piece_more_or_less(oracle: Any, rng: random.Random, one: Listed) -> Any:
    """Carry one more piece, or none of the last."""
    ops = list(one.operations)
    o = rng.randrange(len(ops))
    op = ops[o]
    if rng.random() < 0.5:
        ops[o] = replace(op, reads=op.reads[:-1], writes=op.writes[:-1])
    else:
        more = rng.randrange(one.places)
        ops[o] = replace(op, reads=(*op.reads, more), writes=(*op.writes, more))
    return ops


ERRORS: tuple[Error, ...] = (
    a_dependency_less,
    a_dependency_more,
    swapped_sources,
    another_end,
    another_place,
    another_kind,
    an_operation_less,
    an_operation_twice,
    an_operation_more,
    a_message_to_oneself,
    a_piece_more_or_less,
)


def draw(oracle: ModuleType, seed: int) -> tuple[str, Listed]:
    """Return how a schedule was made, and the schedule: a third of them are right.

    After most errors dependencies stay as they were; else they are those that all conflicts
    ask for, so that only the data may be wrong.
    """
    rng = random.Random(seed)
    one = (by_trees if rng.random() < 0.5 else registered)(oracle, rng)
    if rng.random() < 0.5:
        one = shuffled(rng, one)
    if seed % 3 == 0:
        return "right", one
    error = ERRORS[seed // 3 % len(ERRORS)]
    how = "right"
    for _ in range(20):
        ops = error(oracle, rng, one)
        if ops is not None and len(ops) and not _wrong_switch(ops, one.ranks):
            how, one = error.__name__, replace(one, operations=tuple(ops))
            if rng.random() < 0.3:
                one = derived(oracle, one)
            if rng.random() < 0.8:
                break
    return how, one


def _wrong_switch(ops: Sequence[Any], ranks: int) -> bool:
    """Return whether a switch sends to a switch, or a rank reaches two: no machine has that."""
    pairs = {tuple(sorted((op.src, op.dst))) for op in ops if max(op.src, op.dst) >= ranks}
    low = [one for one, _ in pairs]
    return any(one >= ranks for one in low) or len(low) > len(set(low))
