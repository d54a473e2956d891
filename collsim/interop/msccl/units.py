"""Steps of an MSCCL program that do something, with what they wait for."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final, NamedTuple

from collsim.interop.msccl.program import Program, Step, WrongScheduleError

__all__ = ["Unit", "in_chunks", "units_of"]

# Of so many parts of steps in all, every chunk is followed on its own.
_MOST_PARTS: Final = 200_000


class Unit(NamedTuple):
    """A step that does something, with the waits of the nops before it.

    `waits` are numbers of units, those that announce what it waits for; `turns` are those of
    them that hold its message itself up.
    """

    rank: int
    block: int
    at: int
    step: Step
    previous: int
    waits: tuple[int, ...]
    turns: frozenset[int] = frozenset()


def units_of(program: Program) -> tuple[Unit, ...]:
    """Return all steps that do something, by rank, thread block and place."""
    numbers: dict[tuple[int, int, int], int] = {}
    for rank, number, block in program.blocks():
        for index, step in enumerate(block.steps):
            if step.type != "nop":
                numbers[rank, number, index] = len(numbers)
    units: list[Unit] = []
    for rank, number, block in program.blocks():
        waits: list[int] = []
        turns: set[int] = set()
        previous = -1
        for index, step in enumerate(block.steps):
            if step.wait is not None:
                waits.append(_announced(program, numbers, rank, step.wait, (number, index)))
                if step.turn:
                    turns.add(waits[-1])
            if step.type != "nop":
                units.append(
                    Unit(rank, number, index, step, previous, tuple(waits), frozenset(turns))
                )
                previous = len(units) - 1
                waits, turns = [], set()
    return tuple(units)


def in_chunks(units: Sequence[Unit], slots: int) -> tuple[Unit, ...]:
    """Return units of one chunk each: steps of more go through the slots in parts."""
    counts = [max(1, unit.step.count) for unit in units]
    if sum(counts) > _MOST_PARTS:
        # One more than there are slots waits for the receiver, as any number would.
        counts = [min(count, slots + 1) for count in counts]
    after = list(accumulate(counts))
    parts: list[Unit] = []
    for unit, count in zip(units, counts, strict=True):
        step = replace(unit.step, count=1)
        waits = tuple(after[w] - 1 for w in unit.waits)
        for part in range(count):
            previous = -1 if unit.previous < 0 and not part else len(parts) - 1
            mine = () if part else waits
            parts.append(unit._replace(step=step, previous=previous, waits=mine))
    return tuple(parts)


def _announced(
    program: Program,
    numbers: dict[tuple[int, int, int], int],
    rank: int,
    wait: tuple[int, int],
    waiter: tuple[int, int],
) -> int:
    """Return the unit whose announcement ends a wait: that step, or the next that has one."""
    block, first = wait
    steps = program.gpus[rank].blocks[block].steps
    for index in range(first, len(steps)):
        if steps[index].announces and steps[index].type != "nop":
            return numbers[rank, block, index]
    raise WrongScheduleError(
        f"{program.where(rank, *waiter)} waits for ever: it waits for step {first} of thread "
        f"block {block}, and neither that step nor a later one has hasdep set"
    )
