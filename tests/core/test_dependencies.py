"""Dependencies are those of all conflicts, without the ones that others imply."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collsim.algorithms import build
from collsim.core import dependencies, dependencies_kernel
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.errors import TooLargeError

# (reduces, src, dst, places read, places written)
Operation = tuple[bool, int, int, list[int], list[int]]
PLACES, SCRATCH, RANKS = 3, 2, 4


def conflict(first: Operation, second: Operation) -> bool:
    """Return whether two operations touch one place in ways that don't commute."""
    reads = [{(op[1], place) for place in op[3]} for op in (first, second)]
    writes = [{(op[2], place) for place in op[4]} for op in (first, second)]
    if writes[0] & reads[1] or reads[0] & writes[1]:
        return True
    return bool(writes[0] & writes[1]) and not (first[0] and second[0])


def reduced(program: list[Operation]) -> list[list[int]]:
    """Return per operation the conflicts before it that no other one implies."""
    before: list[set[int]] = []
    kept = []
    for j, operation in enumerate(program):
        direct = {i for i in range(j) if conflict(program[i], operation)}
        implied = set().union(*(before[i] for i in direct))
        before.append(direct | implied)
        kept.append(sorted(direct - implied))
    return kept


def schedule_of(program: list[Operation], scratch: int = SCRATCH) -> Schedule:
    """Return what the builder makes of a program."""
    b = Builder(collective("all_reduce"), RANKS, parts=PLACES)
    b.scratch(scratch)
    for reduces, src, dst, read, written in program:
        (b.reduce if reduces else b.copy)(src, dst, read, into=written)
    return b.finish()


def waits_of(schedule: Schedule) -> list[list[int]]:
    """Return per operation what it waits for."""
    return [schedule.waits_for(i).tolist() for i in range(len(schedule))]


@st.composite
def operations(draw: st.DrawFn, most: int = PLACES + SCRATCH) -> Operation:
    """Return an operation on some places, from a rank to any, itself included."""
    ranks = st.integers(0, RANKS - 1)
    # One place may be sent to two, but no two to one.
    read = draw(st.lists(st.integers(0, most - 1), min_size=1, max_size=most))
    written = list(draw(st.permutations(range(most))))[: len(read)]
    if len(set(read)) == len(read) and draw(st.booleans()):
        written = read
    return draw(st.booleans()), draw(ranks), draw(ranks), read, written


@given(st.lists(operations(), max_size=30))
def test_kept_dependencies_are_the_reduced_conflicts(program: list[Operation]) -> None:
    """Read after write, write after read, write after write; reductions commute."""
    assert waits_of(schedule_of(program)) == reduced(program)


def random_program(seed: int) -> list[Operation]:
    """Return a long program on few places, where chains cross much."""
    rng = random.Random(seed)
    most = PLACES + SCRATCH
    program = []
    for _ in range(rng.randint(50, 150)):
        read = rng.sample(range(most), rng.randint(1, 2))
        written = read if rng.random() < 0.7 else rng.sample(range(most), len(read))
        kind = rng.random() < rng.choice((0.2, 0.8))
        program.append((kind, rng.randrange(RANKS), rng.randrange(RANKS), read, written))
    return program


@pytest.mark.parametrize("seed", range(20))
def test_long_programs_too(seed: int) -> None:
    """150 operations on 20 places."""
    program = random_program(seed)
    assert waits_of(schedule_of(program)) == reduced(program)


@pytest.mark.parametrize("seed", range(20))
def test_answers_that_are_kept_are_right(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every walk but the first steps goes by them, and many fall on one of 16 entries."""
    monkeypatch.setattr(dependencies_kernel, "_STEPS", 0)
    monkeypatch.setattr(dependencies_kernel, "_EACH", 0)
    monkeypatch.setattr(dependencies, "_KEPT", 16)
    program = random_program(seed)
    assert waits_of(schedule_of(program)) == reduced(program)


class Counted(list[int]):
    """A list that counts how often it is read."""

    reads = 0

    def __getitem__(self, key: int) -> int:  # type: ignore[override]
        Counted.reads += 1
        return super().__getitem__(key)


@pytest.mark.parametrize("chunks", [16, 64])
def test_a_pipeline_costs_as_much_for_each_chunk(
    chunks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up and down two trees of 16 ranks: every way back looks at few dependencies."""

    def counting(*args: object) -> int:
        *rest, dep = args
        counted = Counted(dep)  # type: ignore[call-overload]
        total = dependencies_kernel.derive(*rest, counted)
        dep[:] = list(counted)  # type: ignore[index]
        return total

    monkeypatch.setattr(dependencies, "derive", counting)
    monkeypatch.setattr(dependencies, "_LOADED_FROM", 10**9)
    Counted.reads = 0
    schedule = build("all_reduce", "double_binary_tree", 16, chunks=chunks)
    assert len(schedule) == 4 * 15 * chunks
    assert 0 < Counted.reads < 40 * len(schedule)


@pytest.mark.parametrize("seed", range(5))
def test_places_that_nobody_touches_change_nothing(seed: int) -> None:
    """Among a million places those that are used are numbered first."""
    program = random_program(seed)
    assert waits_of(schedule_of(program, scratch=250_000)) == reduced(program)


@pytest.mark.parametrize(
    ("name", "algorithm", "ranks", "chunks"),
    [
        ("all_reduce", "ring", 8, 1),
        ("all_reduce", "mst", 13, 1),
        ("all_reduce", "reduce_broadcast", 5, 7),
        ("all_to_all", "mst", 7, 1),
        ("reduce_scatter", "linear", 6, 1),
    ],
)
def test_compiled_source_gives_identical_arrays(
    monkeypatch: pytest.MonkeyPatch, name: str, algorithm: str, ranks: int, chunks: int
) -> None:
    """The same function, on lists and compiled on arrays."""
    plain = build(name, algorithm, ranks, 0, chunks)
    monkeypatch.setattr(dependencies, "COMPILE_FROM", 0)
    compiled = build(name, algorithm, ranks, 0, chunks)
    for array in ("dep_ptr", "dep"):
        one, other = getattr(plain, array), getattr(compiled, array)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


def test_compiled_source_gives_identical_arrays_on_random_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Copies, reductions, self-operations and scratch."""
    programs = [random_program(seed) for seed in range(100, 110)]
    plain = [waits_of(schedule_of(program)) for program in programs]
    monkeypatch.setattr(dependencies, "COMPILE_FROM", 0)
    assert [waits_of(schedule_of(program)) for program in programs] == plain


def test_ring_all_reduce_of_eight_has_104_dependencies() -> None:
    """Each of 112 operations but the first eight needs the one that brought its share."""
    schedule = build("all_reduce", "ring", 8)
    assert (len(schedule), schedule.dep.size) == (112, 104)
    assert [len(d) for d in waits_of(schedule)] == [0] * 8 + [1] * 104


def test_reductions_into_one_place_dont_wait_for_each_other() -> None:
    """But the one that reads the sum waits for all of them."""
    program: list[Operation] = [(True, s, 0, [0], [0]) for s in (1, 2, 3)]
    program.append((False, 0, 1, [0], [0]))
    # The copy also overwrites what operation 0 sent, which it follows anyway.
    assert waits_of(schedule_of(program)) == [[], [], [], [0, 1, 2]]


def test_write_waits_for_all_reads_before_it() -> None:
    """Two send from one place, a third overwrites it."""
    program: list[Operation] = [
        (False, 0, 1, [0], [0]),
        (False, 0, 2, [0], [0]),
        (False, 3, 0, [0], [0]),
    ]
    assert waits_of(schedule_of(program)) == [[], [], [0, 1]]


def test_implied_dependency_is_dropped() -> None:
    """0 -> 1 -> 2 -> 0: the last waits for the second hop alone."""
    program: list[Operation] = [
        (False, 0, 1, [0], [0]),
        (False, 1, 2, [0], [0]),
        (False, 2, 0, [0], [0]),
    ]
    assert waits_of(schedule_of(program)) == [[], [0], [1]]


def test_copy_waits_for_reductions_before_it_and_they_for_copies() -> None:
    """Overwriting does not commute with anything."""
    program: list[Operation] = [
        (True, 1, 0, [0], [0]),
        (False, 2, 0, [0], [0]),
        (True, 3, 0, [0], [0]),
    ]
    assert waits_of(schedule_of(program)) == [[], [0], [1]]


def test_scratch_orders_like_any_other_place() -> None:
    """Place 3 is scratch: read after write."""
    program: list[Operation] = [(False, 0, 1, [0], [3]), (False, 1, 2, [3], [0])]
    assert waits_of(schedule_of(program)) == [[], [0]]


def test_operation_does_not_wait_for_itself() -> None:
    """It reads and writes one place of one rank."""
    program: list[Operation] = [(True, 0, 0, [0], [0]), (False, 0, 0, [0], [0])]
    assert waits_of(schedule_of(program)) == [[], [0]]


def test_kinds_are_those_of_the_schedule() -> None:
    """The source for lists and arrays can't import them, but must agree."""
    assert (dependencies_kernel._COPY, dependencies_kernel._REDUCE) == (COPY, REDUCE)


@pytest.mark.parametrize("compiled", [False, True])
def test_plain_python_gets_lists_and_compiled_code_arrays(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is slow on the other's; also where places are numbered anew."""
    from collsim.engine import compiled as compiled_kernels

    given: list[object] = []

    def spy(*arguments: object) -> int:
        given[:] = arguments
        return dependencies_kernel.derive(*arguments)

    monkeypatch.setattr(dependencies, "derive", spy)
    monkeypatch.setattr(compiled_kernels, "derive", spy)
    monkeypatch.setattr(dependencies, "_LOADED_FROM", 0 if compiled else 10**9)
    program = random_program(3)
    for scratch in (SCRATCH, 10_000):
        assert waits_of(schedule_of(program, scratch)) == reduced(program)
        kinds = {type(one) for one in given if not isinstance(one, bool | int)}
        assert kinds == {np.ndarray if compiled else list}


def test_answers_that_are_kept_fit_into_some_megabytes() -> None:
    """Four numbers of 32 bits each, found by masking a number: a power of two."""
    kept = dependencies._KEPT
    assert kept & (kept - 1) == 0
    assert 30e6 < 4 * 4 * kept < 70e6


def test_more_waits_than_are_simulated_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 reads of one place each wait for 200 sums: room grows fourfold, up to a limit."""
    program: list[Operation] = [(True, 1, 0, [0], [0])] * 200 + [(True, 0, 2, [0], [1])] * 20
    assert waits_of(schedule_of(program)) == reduced(program)
    # At first there is room for 220 + 220 + 64, then for 2,016, then for 8,064 of some 4,000.
    for most, found in ((0, 504), (2015, 504), (2016, 2016), (8063, 2016)):
        monkeypatch.setattr(dependencies, "_MOST_WAITS", most)
        with pytest.raises(
            TooLargeError,
            match=f"^builder: 220 messages wait for more than {found:,} others, "
            "which is more than is simulated$",
        ):
            schedule_of(program)
    monkeypatch.setattr(dependencies, "_MOST_WAITS", 8064)
    assert waits_of(schedule_of(program)) == reduced(program)


def test_memory_for_walks_is_refused_where_they_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Chains alone take less: a ring is built where two that wait for each other are not."""
    program = random_program(0)
    carried = sum(len(operation[3]) for operation in program)
    monkeypatch.setattr(dependencies, "_MAX_WALKED", carried - 1)
    with pytest.raises(
        TooLargeError,
        match=f"^builder: messages that carry {carried} pieces wait for several others each, "
        f"which takes more memory than there is for {carried - 1}$",
    ):
        schedule_of(program)
    monkeypatch.setattr(dependencies, "_MAX_WALKED", carried)
    assert waits_of(schedule_of(program)) == reduced(program)
    monkeypatch.setattr(dependencies, "_MAX_WALKED", 0)
    assert len(build("all_reduce", "ring", 8)) == 112
