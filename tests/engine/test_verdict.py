"""Every mutant of a right schedule is caught; right schedules pass, in any legal order."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.schedule import REDUCE, Schedule
from collsim.engine.execute import execute
from collsim.engine.happens_before import check_order
from collsim.engine.replay import finish_order, replay
from collsim.engine.simulate import simulate
from collsim.engine.verdict import verify_schedule

MEMBERS = [(kind, name) for kind in COLLECTIVES for name in algorithm_names(kind)]
# Eight ranks: (collective, algorithm, chunks), dependencies, swaps, operations.
SUBJECTS = [
    ("all_reduce", "ring", 1, 104, 5488, 112),
    ("broadcast", "mst", 1, 4, 17, 7),
    ("scatter", "mst", 1, 4, 17, 7),
    ("broadcast", "ring", 5, 30, 525, 35),
    ("all_to_all", "ring", 1, 0, 1372, 56),
    ("all_to_all", "mst", 1, 24, 252, 24),
]


def rewired(
    schedule: Schedule, waits: list[list[int]], keep: np.ndarray | None = None
) -> Schedule:
    """Return the schedule with other dependencies, and only the operations to keep."""
    operations = np.arange(len(schedule)) if keep is None else keep
    rows = [range(schedule.piece_ptr[o], schedule.piece_ptr[o + 1]) for o in operations]
    taken = np.array([j for row in rows for j in row], dtype=np.int64)
    return dataclasses.replace(
        schedule,
        src=schedule.src[operations],
        dst=schedule.dst[operations],
        kind=schedule.kind[operations],
        channel=schedule.channel[operations],
        round=schedule.round[operations],
        piece_ptr=np.cumsum([0, *(len(row) for row in rows)]),
        piece=schedule.piece[taken],
        into=schedule.into[taken],
        dep_ptr=np.cumsum([0, *(len(w) for w in waits)]),
        dep=np.array([d for w in waits for d in w], dtype=np.int32),
    )


def all_waits(schedule: Schedule) -> list[list[int]]:
    """Return what each operation waits for."""
    return [schedule.dep[i:j].tolist() for i, j in pairwise(schedule.dep_ptr)]


def without_a_dependency(schedule: Schedule) -> Iterator[Schedule]:
    """Yield the schedule without one of its dependencies, each in turn."""
    waits = all_waits(schedule)
    for o, mine in enumerate(waits):
        for d in mine:
            fewer = [w for w in mine if w != d]
            yield rewired(schedule, [*waits[:o], fewer, *waits[o + 1 :]])


def with_swapped_sources(schedule: Schedule) -> Iterator[Schedule]:
    """Yield the schedule with the sources of two operations swapped, where they differ."""
    for a, b in combinations(range(len(schedule)), 2):
        if schedule.src[a] != schedule.src[b]:
            src = schedule.src.copy()
            src[[a, b]] = src[[b, a]]
            yield dataclasses.replace(schedule, src=src)


def without_an_operation(schedule: Schedule, inherit: bool) -> Iterator[Schedule]:
    """Yield the schedule without one operation, each in turn.

    Who waited for it now waits for what it waited for (`inherit`), so that no order is
    lost and only the data can tell; or for nothing in its place.
    """
    waits = all_waits(schedule)
    for gone in range(len(schedule)):
        rest = []
        for o, mine in enumerate(waits):
            if o != gone:
                heirs = waits[gone] if inherit and gone in mine else []
                kept = sorted({*heirs, *mine} - {gone})
                rest.append([d - (d > gone) for d in kept])
        yield rewired(schedule, rest, np.delete(np.arange(len(schedule)), gone))


def caught_by(schedule: Schedule) -> str:
    """Return which check rejects a schedule: "locality", "order", "data" or "nothing"."""
    reason = check_order(schedule)
    if reason is not None:
        return "locality" if "takes part" in reason else "order"
    return "nothing" if verify_schedule(schedule).ok else "data"


@pytest.mark.parametrize(("kind", "name", "chunks", "dependencies", "swaps", "size"), SUBJECTS)
def test_a_dropped_dependency_is_caught(
    kind: str, name: str, chunks: int, dependencies: int, swaps: int, size: int
) -> None:
    """Each kept dependency is needed, so each mutant has a race."""
    caught = Counter(map(caught_by, without_a_dependency(build(kind, name, 8, 0, chunks))))
    assert caught == Counter({"order": dependencies})


@pytest.mark.parametrize(("kind", "name", "chunks", "dependencies", "swaps", "size"), SUBJECTS)
def test_swapped_sources_are_caught(
    kind: str, name: str, chunks: int, dependencies: int, swaps: int, size: int
) -> None:
    """All pairs of operations with different sources, dependencies as they were."""
    mutants = with_swapped_sources(build(kind, name, 8, 0, chunks))
    caught = Counter(map(caught_by, mutants))
    assert caught["nothing"] == 0
    assert caught.total() == swaps


@pytest.mark.parametrize("inherit", [True, False])
@pytest.mark.parametrize(("kind", "name", "chunks", "dependencies", "swaps", "size"), SUBJECTS)
def test_a_dropped_operation_is_caught(
    kind: str, name: str, chunks: int, dependencies: int, swaps: int, size: int, inherit: bool
) -> None:
    """Its data are missing somewhere, whether or not others take over its dependencies."""
    mutants = list(without_an_operation(build(kind, name, 8, 0, chunks), inherit))
    assert len(mutants) == size
    assert [m for m in mutants if verify_schedule(m).ok] == []
    if inherit:  # the data alone tell, in any order
        assert all(replay(m, range(len(m))) is not None for m in mutants)


def test_only_the_order_check_finds_every_dropped_dependency() -> None:
    """Program order hides all 104 of the ring, the order of simulated times some of them."""
    mutants = list(without_a_dependency(build("all_reduce", "ring", 8)))
    cluster = Cluster.ideal(8, alpha=1e-6, bandwidth=1e9)
    listed = [m for m in mutants if replay(m, range(len(m))) is not None]
    timed = [
        m for m in mutants if replay(m, finish_order(simulate(m, cluster, 1e6))) is not None
    ]
    assert (len(mutants), len(listed)) == (104, 0)
    assert 0 < len(timed) < 104  # how many depends on the network
    assert all("in no fixed order" in str(check_order(m)) for m in mutants)


def test_some_swaps_only_break_the_rule_of_locality() -> None:
    """In the ring's all_gather two ranks that both have a share can send it, in order too.

    But they would have to learn from messages between others that it is their turn.
    """
    caught = Counter(map(caught_by, with_swapped_sources(build("all_reduce", "ring", 8))))
    assert caught == Counter({"locality": 5364, "data": 124})
    sound = [
        m
        for m in with_swapped_sources(build("all_reduce", "ring", 8))
        if replay(m, range(len(m))) is None
    ]
    assert len(sound) == 140
    assert {caught_by(m) for m in sound} == {"locality"}


def test_swapped_leaves_of_a_reduction_tree_are_another_right_tree() -> None:
    """Not every swap is an error: ranks 1 and 3 may change places before anybody waits."""
    schedule = build("all_reduce", "mst", 8)
    assert schedule.src[:4].tolist() == [1, 3, 5, 7]
    right = [m for m in with_swapped_sources(schedule) if verify_schedule(m).ok]
    assert len(right) == 6
    assert all(sorted(m.src[:4].tolist()) == [1, 3, 5, 7] for m in right)


def any_legal_run(schedule: Schedule, random: Random) -> list[dict[int, int]]:
    """Run with starts and finishes interleaved at random, as the dependencies allow.

    An operation reads at its start and writes at its finish. Every place of the
    precondition holds a number of its own; returns the memory of every rank.
    """
    memory: list[dict[int, int]] = [{} for _ in range(schedule.ranks)]
    rank, block = schedule.collective.before(schedule.ranks, schedule.root)
    for r, b in zip(rank.tolist(), block.tolist(), strict=True):
        for piece in range(b * schedule.parts, (b + 1) * schedule.parts):
            memory[r][piece] = (r * schedule.pieces + piece + 1) ** 3
    waits = [set(w) for w in all_waits(schedule)]
    idle, running, over = set(range(len(schedule))), {}, set()
    while idle or running:
        ready = sorted(o for o in idle if waits[o] <= over)
        o = random.choice(ready + sorted(running))
        if o in idle:
            idle.remove(o)
            source = memory[int(schedule.src[o])]
            running[o] = [source.get(int(p), -1) for p in schedule.carried(o)]
        else:
            target = memory[int(schedule.dst[o])]
            for place, number in zip(schedule.written(o).tolist(), running.pop(o), strict=True):
                adds = schedule.kind[o] == REDUCE
                target[place] = target.get(place, 0) + number if adds else number
            over.add(o)
    return memory


def results(schedule: Schedule, seeds: range) -> set[tuple[int, ...]]:
    """Return the distinct outcomes of several legal runs, in the places that count."""
    rank, block = schedule.collective.after(schedule.ranks, schedule.root)
    found = set()
    for seed in seeds:
        memory = any_legal_run(schedule, Random(seed))
        found.add(
            tuple(
                memory[r].get(b * schedule.parts + part, -1)
                for r, b in zip(rank.tolist(), block.tolist(), strict=True)
                for part in range(schedule.parts)
            )
        )
    return found


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
@pytest.mark.parametrize(("kind", "name"), MEMBERS)
def test_every_legal_order_has_one_outcome(kind: str, name: str, ranks: int) -> None:
    """What the order check promises, by trying."""
    if refusal(kind, name, ranks) is not None:
        return
    schedule = build(kind, name, ranks, 0, 3 if find(kind, name).chunked else 1)
    assert len(results(schedule, range(10))) == 1


def test_a_race_has_several_outcomes() -> None:
    """The same trying finds what the order check finds in a ring of three."""
    mutants = list(without_a_dependency(build("all_reduce", "ring", 3)))
    assert len(mutants) == 9
    assert all(len(results(m, range(300))) > 1 for m in mutants)


def double_buffered(ranks: int = 2) -> Schedule:
    """Return an exchange of two ranks that sums in scratch and copies the sum back."""
    b = Builder(collective("all_reduce"), ranks)
    total = b.scratch(1)
    here, there, place = np.array([0, 1]), np.array([1, 0]), b.pieces.repeat(2, axis=0)
    b.next_round()
    b.reduce(here, here, place, into=np.tile(total, (2, 1)))
    b.reduce(here, there, place, into=np.tile(total, (2, 1)))
    b.next_round()
    b.copy(here, here, np.tile(total, (2, 1)), into=place)
    return b.finish()


def test_scratch_places_and_operations_of_a_rank_with_itself() -> None:
    """Both values are reduced into scratch, in either order, then overwrite the input."""
    schedule = double_buffered()
    assert verify_schedule(schedule).reason == ""
    assert len(results(schedule, range(50))) == 1
    for op, result in [("sum", 5), ("prod", 6), ("min", 2), ("max", 3), ("avg", 2)]:
        outputs = execute(schedule, [np.array([2]), np.array([3])], op)
        assert [out.tolist() for out in outputs if out is not None] == [[result], [result]]


def test_mutants_of_a_double_buffered_exchange_are_caught() -> None:
    """Its dependencies: the copy back waits for both reductions, and for the send."""
    mutants = list(without_a_dependency(double_buffered()))
    assert Counter(map(caught_by, mutants)) == Counter({"order": len(mutants)})
    assert len(mutants) == 6
    gone = list(without_an_operation(double_buffered(), inherit=True))
    assert Counter(map(caught_by, gone)) == Counter({"data": 6})


def test_the_first_reason_is_given() -> None:
    """In the words of the check that failed."""
    schedule = build("broadcast", "mst", 4)
    verdict = verify_schedule(rewired(schedule, [[], [], []]))
    assert not verdict.ok
    assert verdict.reason == (
        "operation 0 (0 → 2) overwrites block 0 of rank 2 and operation 2 (2 → 3) reads it, "
        "in no fixed order"
    )
