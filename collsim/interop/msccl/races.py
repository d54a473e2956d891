"""Whether an MSCCL program leaves the order of two steps open that touch one chunk.

Steps of one thread block, waits, and the way of a message from sender to receiver are all that
orders steps. Two steps that touch a chunk must be ordered unless both read it: thread blocks
add up without a lock, so that two reductions race, too.
"""

from collections import defaultdict
from collections.abc import Iterator

from collsim.interop.msccl.flow import Flow
from collsim.interop.msccl.layout import alias, parts_of
from collsim.interop.msccl.program import READS_SOURCE, REDUCES, WRITES_TARGET, Program, Step

__all__ = ["Location", "before", "find_race", "touched"]

Location = tuple[int, str, int]


def touched(program: Program, rank: int, step: Step) -> tuple[list[Location], list[Location]]:
    """Return the memory that a step reads and that it writes, as rank, buffer and chunk."""
    ranks = len(program.gpus)
    parts = parts_of(program.collective, ranks, program.chunks)

    def chunks(start: tuple[str, int]) -> list[Location]:
        return [
            (
                rank,
                *alias(
                    program.collective, rank, parts, start[0], start[1] + i, program.in_place
                ),
            )
            for i in range(step.count)
        ]

    reads = chunks(step.source) if step.type in READS_SOURCE else []
    writes = chunks(step.target) if step.type in WRITES_TARGET else []
    if step.type == "cpy":
        # In place, a copy from the input to the output may leave everything where it is.
        moved = [(a, b) for a, b in zip(reads, writes, strict=True) if a != b]
        return [a for a, _ in moved], [b for _, b in moved]
    if step.type == "re":
        reads = reads + writes
    return reads, writes


def before(flow: Flow) -> Iterator[tuple[int, int]]:
    """Yield, in the order of the flow, each unit and all that is done before it, as bits."""
    last: dict[int, int] = {}
    known: dict[int, int] = {}
    needs: dict[int, tuple[int, ...]] = {}
    for u in flow.order:
        unit = flow.units[u]
        needs[u] = tuple(
            p for p in (unit.previous, flow.sender.get(u, -1), *unit.waits) if p >= 0
        )
        for p in needs[u]:
            last[p] = u
    for u in flow.order:
        mask = 0
        for p in needs[u]:
            mask |= known[p] | 1 << p
        for p in needs[u]:
            if last[p] == u:
                known.pop(p, None)
        if u in last:
            known[u] = mask
        yield u, mask


def find_race(program: Program, flow: Flow) -> str | None:
    """Return which two steps race, or None.

    Examples
    --------
    >>> from collsim.interop.msccl.flow import follow
    >>> from collsim.interop.msccl.program import Block, Gpu
    >>> copies = Step("cpy", ("i", 0), ("o", 0)), Step("cpy", ("i", 1), ("o", 0))
    >>> gpu = Gpu({"i": 2, "o": 2, "s": 0}, tuple(Block(-1, -1, 0, (s,)) for s in copies))
    >>> twice = Program("a", "LL", "all_reduce", 0, False, 2, 1, (0, 8), (gpu,))
    >>> find_race(twice, follow(twice))
    'rank 0, thread block 0, step 0 (cpy) and rank 0, thread block 1, step 0 (cpy) touch o[0]
    in no fixed order'
    """
    readers: dict[Location, list[int]] = defaultdict(list)
    writers: dict[Location, list[int]] = defaultdict(list)
    for u, mask in before(flow):
        unit = flow.units[u]
        reads, writes = touched(program, unit.rank, unit.step)
        for place in (*reads, *writes):
            rivals = [*writers[place], *(readers[place] if place in writes else ())]
            for rival in rivals:
                if not mask >> rival & 1:
                    return _said(program, flow, rival, u, place)
        if unit.step.type not in REDUCES | {"nop"} and not set(reads).isdisjoint(writes):
            both = min(set(reads) & set(writes))
            return f"{_where(program, flow, u)} reads {both[1]}[{both[2]}] while it writes it"
        for place in reads:
            readers[place].append(u)
        for place in writes:
            writers[place].append(u)
    return None


def _where(program: Program, flow: Flow, u: int) -> str:
    unit = flow.units[u]
    return program.where(unit.rank, unit.block, unit.at)


def _said(program: Program, flow: Flow, first: int, second: int, place: Location) -> str:
    a, b = sorted((first, second))
    return (
        f"{_where(program, flow, a)} and {_where(program, flow, b)} touch "
        f"{place[1]}[{place[2]}] in no fixed order"
    )
