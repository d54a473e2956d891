"""Where the chunks of an MSCCL program lie among the places of a schedule.

In a schedule, what a rank brings lies where the result must be in the end. A program may have
two buffers for it. They become one place where that makes no difference: where the output chunk
is first copied from its input chunk, before anything else touches it, and nobody reads the
input chunk once the output chunk has changed. Elsewhere the output chunk is a scratch place,
whose content is moved at the very end, locally and so for nothing.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

from collsim.core.collective import collective
from collsim.interop.msccl.flow import Flow
from collsim.interop.msccl.layout import NOWHERE, alias, inputs, outputs, parts_of
from collsim.interop.msccl.program import OwnWordsError, Program, WrongScheduleError
from collsim.interop.msccl.races import Location, before, touched

__all__ = ["Placement", "place_all"]


@dataclass
class Placement:
    """Places of all chunks.

    Parameters
    ----------
    pieces, parts : int
        Of the schedule.
    place : dict of Location to int
        Of every chunk of every rank that is used or must hold something.
    given : set of Location
        Chunks that hold a piece before the call.
    needed : set of Location
        Chunks that must hold a piece in the end.
    landing : list of (rank, place, place)
        What is moved at the end, from where to where.
    scratch : int
        Scratch places of the schedule.
    masks : dict of int to int
        Of a unit, the units before it, as bits; where somebody asks for them.
    users : dict of Location to list of int
        Units that touch a chunk.
    """

    pieces: int
    parts: int
    place: dict[Location, int] = field(default_factory=dict)
    given: set[Location] = field(default_factory=set)
    needed: set[Location] = field(default_factory=set)
    landing: list[tuple[int, int, int]] = field(default_factory=list)
    scratch: int = 0
    masks: dict[int, int] = field(default_factory=dict)
    users: dict[Location, list[int]] = field(default_factory=dict)
    _taken: Counter[int] = field(default_factory=Counter)

    def copy(self) -> "Placement":
        """Return a placement with fresh places of its own."""
        return replace(self, _taken=Counter(self._taken))

    def fresh(self, rank: int) -> int:
        """Return one more scratch place of a rank."""
        place = self.pieces + self._taken[rank]
        self._taken[rank] += 1
        self.scratch = max(self.scratch, self._taken[rank])
        return place

    def start_fresh(self, rank: int, first: int) -> None:
        """Keep the first scratch places of a rank for what has a number."""
        self._taken[rank] = first
        self.scratch = max(self.scratch, first)


def place_all(program: Program, flow: Flow) -> Placement:
    """Give every chunk its place.

    Raises
    ------
    WrongScheduleError
        If an output chunk is never written, or what collsim wrote of scratch chunks can't be.
    """
    kind, ranks = collective(program.collective), len(program.gpus)
    parts = parts_of(kind.name, ranks, program.chunks)
    found = Placement(kind.blocks(ranks) * parts, parts)
    users: dict[Location, list[int]] = defaultdict(list)
    twice = [_twice(program, rank, parts) for rank in range(ranks)]
    for u, mask in before(flow):
        unit = flow.units[u]
        touches = {p for ps in touched(program, unit.rank, unit.step) for p in ps}
        if unit.step.type == "rrs" or not twice[unit.rank].isdisjoint(touches):
            found.masks[u] = mask
        for place in touches:
            users[place].append(u)
    found.users = dict(users)
    for rank in range(ranks):
        _place_rank(program, flow, found, rank)
    return found


def _twice(program: Program, rank: int, parts: int) -> set[Location]:
    """Return chunks of one piece: where a rank has it before the call, and where after it."""
    kind, ranks, root = program.collective, len(program.gpus), program.root
    given, wanted = (of(kind, rank, ranks, root, parts) for of in (inputs, outputs))
    ends: dict[int, set[Location]] = defaultdict(set)
    for buffer, pieces in (("i", given), ("o", wanted)):
        for chunk, piece in enumerate(pieces):
            name = alias(kind, rank, parts, buffer, chunk, program.in_place)
            ends[piece].add((rank, *name))
    ends.pop(NOWHERE, None)
    return {where for places in ends.values() if len(places) > 1 for where in places}


def _place_rank(program: Program, flow: Flow, found: Placement, rank: int) -> None:
    kind, ranks, parts = program.collective, len(program.gpus), found.parts
    given = inputs(kind, rank, ranks, program.root, parts)
    wanted = outputs(kind, rank, ranks, program.root, parts)

    def location(buffer: str, chunk: int) -> Location:
        return rank, *alias(kind, rank, parts, buffer, chunk, program.in_place)

    start = {location("i", c): p for c, p in enumerate(given) if p != NOWHERE}
    end = {location("o", c): p for c, p in enumerate(wanted) if p != NOWHERE}
    found.given |= start.keys()
    found.needed |= end.keys()
    found.place.update(start)
    holder = {piece: where for where, piece in start.items()}
    _scratch(program, found, rank, {*start.values(), *end.values()})
    for where, piece in end.items():
        if where in start:
            if start[where] != piece:
                found.landing.append((rank, start[where], piece))
        elif piece not in holder or _one_place(program, flow, found, holder[piece], where):
            found.place[where] = piece
        else:
            if all(where not in _writes(program, flow, u) for u in found.users.get(where, ())):
                raise WrongScheduleError(
                    f"rank {rank}: o[{where[2]}] must hold a result, but no step writes it"
                )
            found.place[where] = found.fresh(rank)
            found.landing.append((rank, found.place[where], piece))
    for where in found.users:
        if where[0] == rank and where not in found.place:
            # A full buffer holds every piece, also what is only passed on.
            full = kind in ("scatter", "gather") and program.in_place and where[1] == "i"
            found.place[where] = where[2] if full else found.fresh(rank)


def _scratch(program: Program, found: Placement, rank: int, taken: set[int]) -> None:
    """Place the scratch chunks: by their number, or where collsim says they are."""
    gpu = program.gpus[rank]
    own = program.scratch
    if not gpu.places and not own:
        size = gpu.chunks["s"]
        found.start_fresh(rank, size)
        used = [where for where in found.users if where[:2] == (rank, "s")]
        found.place.update({where: found.pieces + where[2] for where in used})
        return
    found.start_fresh(rank, own)
    for chunk, place in gpu.places.items():
        if place >= found.pieces + own or place in taken or chunk >= gpu.chunks["s"]:
            raise OwnWordsError(
                f"rank {rank}: scratch chunk {chunk} can't stand for place {place}"
            )
        taken.add(place)
        found.place[rank, "s", chunk] = place


def _writes(program: Program, flow: Flow, u: int) -> list[Location]:
    unit = flow.units[u]
    return touched(program, unit.rank, unit.step)[1]


def _one_place(
    program: Program, flow: Flow, found: Placement, source: Location, target: Location
) -> bool:
    """Return whether an input chunk and its output chunk can be one place."""
    copies: list[int] = []
    readers: list[int] = []
    writers: list[int] = []
    for u in {*found.users.get(source, ()), *found.users.get(target, ())}:
        reads, writes = touched(program, flow.units[u].rank, flow.units[u].step)
        kind = flow.units[u].step.type
        if kind == "cpy" and (source, target) in zip(reads, writes, strict=True):
            copies.append(u)
            continue
        if source in writes:
            return False
        if target in reads or target in writes:
            writers.append(u)
        if source in reads:
            readers.append(u)
    if len(copies) != 1 or any(not found.masks[u] >> copies[0] & 1 for u in writers):
        return False
    changing = [u for u in writers if target in _writes(program, flow, u)]
    return all(found.masks[w] >> r & 1 for w in changing for r in readers if r != w)
