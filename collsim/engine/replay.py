"""Replay a schedule with symbols for data: whose contributions end up where.

A place holds nothing, or one piece of the collective's data with the set of ranks
whose contributions are in it. Counting sources, not numbers, finds what sums hide:
a contribution counted twice whose value happens to be 0, or two errors that cancel.
"""

from collections.abc import Iterable, MutableMapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from collsim.core.schedule import REDUCE, Schedule
from collsim.core.timeline import Timeline
from collsim.engine.wording import name_operation, name_party, name_place, name_ranks

__all__ = ["Sums", "finish_order", "replay"]

V = TypeVar("V")

# What a place holds: the piece that the data are of, and a bit per contributing rank.
Content = tuple[int, int]


class Sums:
    """Places of switches that hold what was added up there.

    A switch has no memory for a sum: it hands it to one rank, as NVLink SHARP does, and
    what that rank returns may go to all.

    Parameters
    ----------
    schedule : Schedule
        What is run.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._first = schedule.ranks * schedule.places
        self._held: set[int] = set()

    def read(self, memory: MutableMapping[int, V], keys: Iterable[int]) -> None:
        """Take sums out of the memory, from where they were just read."""
        for key in self._held.intersection(keys):
            del memory[key]
            self._held.remove(key)

    def written(self, key: int, reduces: bool) -> None:
        """Note that a place was written."""
        if key >= self._first:
            (self._held.add if reduces else self._held.discard)(key)


def finish_order(timeline: Timeline) -> NDArray[np.int64]:
    """Return the operations in the order in which they finish, ties by index.

    A dependency always comes before those that wait for it, as it has the smaller index
    and does not finish later.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.core.cluster import Cluster
    >>> from collsim.engine.simulate import simulate
    >>> timeline = simulate(build("broadcast", "mst", 4), Cluster.ideal(4, 1e-6, 1e9), 1000)
    >>> finish_order(timeline).tolist()
    [0, 1, 2]
    """
    return np.argsort(timeline.finish, kind="stable")


def replay(schedule: Schedule, order: Iterable[int]) -> str | None:
    """Return why the data come out wrong, or None if they come out right.

    Parameters
    ----------
    schedule : Schedule
        What to replay.
    order : iterable of int
        Every operation once; each reads and writes at its turn. See :func:`finish_order`.

    Returns
    -------
    str or None
        Names the operation, the ranks and the piece.

    Notes
    -----
    Before the call, the places of the precondition hold one contribution of their rank.
    All others hold nothing: sending from them is an error. Reducing into an empty
    *scratch* place, or any of a switch, leaves there what was sent, since these are empty by
    definition; reducing into an empty place of the collective is an error, since the
    caller's memory may hold anything there. What a switch has added up is gone once it is
    read.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> schedule = build("all_reduce", "ring", 4)
    >>> replay(schedule, range(len(schedule))) is None
    True
    >>> replay(schedule, range(len(schedule) - 1))
    'at the end rank 0 lacks the contribution of rank 1 in block 0 part 1'
    """
    held, sums = _start(schedule), Sums(schedule)
    places = schedule.places
    src, dst = schedule.src.tolist(), schedule.dst.tolist()
    reduces = (schedule.kind == REDUCE).tolist()
    ptr = schedule.piece_ptr.tolist()
    read, write = schedule.piece.tolist(), schedule.into.tolist()
    for operation in order:
        o = int(operation)
        here, there = src[o] * places, dst[o] * places
        first, last = ptr[o], ptr[o + 1]
        # All is read before anything is written: an operation may send to its own rank.
        keys = [here + place for place in read[first:last]]
        message = [held.get(key) for key in keys]
        sums.read(held, keys)
        for content, source, place in zip(
            message, read[first:last], write[first:last], strict=True
        ):
            if content is None:
                return (
                    f"{name_operation(schedule, o)} sends {name_place(schedule, source)}, "
                    f"but {name_party(schedule, src[o])} holds nothing there"
                )
            known = held.get(there + place) if reduces[o] else None
            if known is not None:
                if known[0] != content[0] or known[1] & content[1]:
                    return _why_not(schedule, o, known, content, place)
                content = (known[0], known[1] | content[1])  # noqa: PLW2901 - what it becomes
            elif reduces[o] and place < schedule.pieces and dst[o] < schedule.ranks:
                return (
                    f"{name_operation(schedule, o)} reduces into "
                    f"{name_place(schedule, place)}, but rank {dst[o]} holds nothing there"
                )
            held[there + place] = content
            sums.written(there + place, reduces[o])
    return _final(schedule, held)


def _start(schedule: Schedule) -> dict[int, Content]:
    rank, block = schedule.collective.before(schedule.ranks, schedule.root)
    held = {}
    for r, b in zip(rank.tolist(), block.tolist(), strict=True):
        for piece in range(b * schedule.parts, (b + 1) * schedule.parts):
            held[r * schedule.places + piece] = (piece, 1 << r)
    return held


def _why_not(schedule: Schedule, o: int, known: Content, content: Content, place: int) -> str:
    """Return why an operation can't reduce `content` into a place that holds `known`."""
    holder = name_party(schedule, int(schedule.dst[o]))
    where = f"in {name_place(schedule, place)} of {holder}"
    if known[0] != content[0]:
        return (
            f"{name_operation(schedule, o)} combines {name_place(schedule, content[0])} "
            f"with {name_place(schedule, known[0])} {where}"
        )
    twice = name_ranks(_members(known[1] & content[1]))
    return f"{name_operation(schedule, o)} counts the contribution of {twice} twice {where}"


def _final(schedule: Schedule, held: dict[int, Content]) -> str | None:
    everyone = (1 << schedule.ranks) - 1
    origin = schedule.collective.origin(schedule.ranks, schedule.root).tolist()
    rank, block = schedule.collective.after(schedule.ranks, schedule.root)
    for r, b in zip(rank.tolist(), block.tolist(), strict=True):
        wanted = everyone if origin[b] < 0 else 1 << origin[b]
        for piece in range(b * schedule.parts, (b + 1) * schedule.parts):
            content = held.get(r * schedule.places + piece)
            if content == (piece, wanted):
                continue
            where = name_place(schedule, piece)
            if content is None:
                return f"at the end rank {r} holds nothing in {where}"
            if content[0] != piece:
                return (
                    f"at the end rank {r} holds {name_place(schedule, content[0])} in {where}"
                )
            missing = _members(wanted & ~content[1])
            noun = "contribution" if len(missing) == 1 else "contributions"
            return f"at the end rank {r} lacks the {noun} of {name_ranks(missing)} in {where}"
    return None


def _members(mask: int) -> list[int]:
    return [rank for rank in range(mask.bit_length()) if mask >> rank & 1]
