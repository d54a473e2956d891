"""Whoever claims a symmetry has it: what a few ranks list, renamed, is what all list."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from collsim.algorithms import algorithm_names, build, build_folded, find, refusal
from collsim.core.collective import COLLECTIVES
from collsim.core.folded import Folded
from collsim.core.schedule import Schedule
from collsim.core.setting import Setting
from collsim.core.symmetry import Fold
from collsim.errors import InputError

CLAIMED = [
    (kind, name)
    for kind in COLLECTIVES
    for name in algorithm_names(kind)
    if find(kind, name).symmetry is not None
]
# All counts; of large ones those that divide in many ways or hardly at all.
RANKS = (*range(2, 14), 16, 20, 24, 31, 32, 36, 64)
NODES = (2, 4, 8)

Int64 = NDArray[np.int64]


def cases(kind: str, name: str) -> Iterator[tuple[int, Int64 | None, int, int, Fold]]:
    """Yield ranks, nodes, chunks, channels and a fold that the claim allows."""
    algorithm = find(kind, name)
    for ranks in RANKS if kind != "all_to_all" else RANKS[:-4]:
        nodes: list[Int64 | None] = [None]
        nodes += [np.arange(ranks) // g for g in NODES if ranks % g == 0 and ranks > g]
        many = ranks > 24
        for node in nodes[-1:] if many else nodes:
            setting = Setting(ranks, node)
            if refusal(kind, name, ranks, node) is not None:
                continue
            claim = algorithm.claim(setting)
            if claim is None:
                continue
            for channels in (1, 3) if algorithm.channeled and ranks <= 24 else (1,):
                base = claim.step(setting, channels)
                steps = [step for step in range(base, ranks, base) if ranks % step == 0]
                for step in steps[:1] if many else sorted({*steps[:2], *steps[-1:]}):
                    try:
                        fold = Fold(claim.kind, ranks, step)
                    except InputError:
                        continue
                    yield ranks, node, 2 if algorithm.chunked else 1, channels, fold


def whole_of(folded: Folded) -> Iterator[tuple[int, int, tuple[object, ...]]]:
    """Yield call, turn and every operation of the whole, renamed out of representatives."""
    schedule, fold, axes = folded.schedule, folded.fold, folded.axes
    call = np.repeat(np.arange(folded.call_ptr.size - 1), np.diff(folded.call_ptr))
    width = np.diff(schedule.piece_ptr)
    at = folded.turn.astype(np.int64)
    for turn in range(fold.turns):
        src = fold.moved(schedule.src.astype(np.int64), turn)
        dst = fold.moved(folded.receiver.astype(np.int64), turn)
        read = fold.pieces(
            schedule.piece.astype(np.int64), np.full(schedule.piece.size, turn), axes
        )
        there = np.repeat(fold.after(at, np.array(turn)), width)
        written = fold.pieces(schedule.into.astype(np.int64), there, axes)
        for i in range(len(schedule)):
            row = slice(int(schedule.piece_ptr[i]), int(schedule.piece_ptr[i + 1]))
            yield (
                int(call[i]),
                turn,
                operation(schedule, i, src[i], dst[i], read[row], written[row]),
            )


def operation(
    schedule: Schedule, i: int, src: int, dst: int, read: Int64, written: Int64
) -> tuple[object, ...]:
    """Return all that tells an operation from others; the order of its pieces does not."""
    carried = tuple(sorted(zip(read.tolist(), written.tolist(), strict=True)))
    head = int(schedule.round[i]), int(schedule.channel[i]), int(schedule.kind[i])
    return (*head, int(src), int(dst), carried)


def waits(schedule: Schedule, number: Int64, count: int) -> list[int]:
    """Return which numbers every number waits for, directly or not, a bit for each."""
    direct = [0] * count
    for i in range(len(schedule)):
        for d in schedule.waits_for(i):
            direct[number[i]] |= 1 << int(number[d])
    through = [0] * count
    for n in range(count):
        through[n] = direct[n]
        for d in range(n):
            if direct[n] >> d & 1:
                through[n] |= through[d]
    return through


@pytest.mark.parametrize(("kind", "name"), CLAIMED)
def test_representatives_renamed_are_the_whole(kind: str, name: str) -> None:
    """Operations, their order among equals of a turn, and who waits for whom are the same."""
    tried = 0
    for ranks, node, chunks, channels, fold in cases(kind, name):
        folded = build_folded(kind, name, fold, chunks, node=node, channels=channels)
        whole = build(kind, name, ranks, chunks=chunks, node=node, channels=channels)
        where = {
            operation(
                whole, i, whole.src[i], whole.dst[i], whole.carried(i), whole.written(i)
            ): i
            for i in range(len(whole))
        }
        assert len(where) == len(whole) == folded.operations
        number = np.empty(len(whole), dtype=np.int64)
        last = -1
        ends: dict[int, list[int]] = {}
        per_turn: dict[int, int] = {}
        for i, (call, turn, one) in enumerate(whole_of(folded)):
            place = where[one]
            number[place] = i % len(folded)
            # Of one turn, operations are listed in the order of the representatives.
            assert per_turn.get(turn, -1) < place
            per_turn[turn] = place
            ends.setdefault(call, []).append(place)
        for call in sorted(ends):
            assert last < min(ends[call])
            last = max(ends[call])
        if len(whole) <= 800:
            few = np.arange(len(folded))
            assert waits(whole, number, len(folded)) == waits(folded.schedule, few, len(folded))
        tried += 1
    assert tried > 3


def test_the_issue_s_algorithms_claim_one() -> None:
    """Rings, rotations, Bruck's and what goes by XOR say so."""
    assert {
        ("all_reduce", "ring"),
        ("all_gather", "bruck"),
        ("all_to_all", "ring"),
        ("all_to_all", "pairwise"),
        ("all_reduce", "recursive_doubling"),
        ("all_reduce", "halving_doubling"),
        ("reduce_scatter", "recursive_halving"),
    } <= set(CLAIMED)


def test_what_claims_none_is_not_folded() -> None:
    """A tree is not, nor a ring by XOR, nor in steps that its channels don't allow."""
    with pytest.raises(InputError, match="all_reduce/mst: claims no symmetry"):
        build_folded("all_reduce", "mst", Fold("shift", 8, 4))
    with pytest.raises(InputError, match="claims no symmetry of the kind xor"):
        build_folded("all_reduce", "ring", Fold("xor", 8, 4))
    node = np.arange(8) // 2
    with pytest.raises(InputError, match="expected a multiple of 4"):
        build_folded("all_reduce", "ring", Fold("shift", 8, 2), node=node, channels=2)


def test_a_step_that_claims_none_leaves_the_whole_without_one() -> None:
    """Across nodes a tree is not the same for all ranks, a ring is."""
    setting = Setting(8, np.arange(8) // 2)
    assert find("all_reduce", "hierarchical:across=mst").claim(setting) is None
    assert find("all_reduce", "hierarchical:across=ring").claim(setting) is not None
