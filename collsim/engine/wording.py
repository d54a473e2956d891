"""How checks name operations, places and lists of ranks, all in the same words."""

from collections.abc import Sequence

from collsim.core.schedule import Schedule

__all__ = ["name_operation", "name_party", "name_place", "name_ranks"]

_SHOWN = 8  # ranks that a list names before it says how many more there are


def name_operation(schedule: Schedule, operation: int) -> str:
    """Return an operation with its sender and receiver.

    Examples
    --------
    >>> from collsim.core.builder import Builder
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("broadcast"), ranks=2)
    >>> b.copy(0, 1, b.pieces[0])
    >>> name_operation(b.finish(), 0)
    'operation 0 (0 → 1)'
    """
    src, dst = (schedule.party(int(end[operation])) for end in (schedule.src, schedule.dst))
    return f"operation {operation} ({src} → {dst})"


def name_party(schedule: Schedule, index: int) -> str:
    """Return a rank, or a switch that takes part, inside a sentence.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> nvls = build("all_reduce", "nvls", 4, multicast=True)
    >>> name_party(nvls, 3), name_party(nvls, 4)
    ('rank 3', 'the switch of node 0')
    """
    return f"{'rank' if index < schedule.ranks else 'the'} {schedule.party(index)}"


def name_place(schedule: Schedule, place: int) -> str:
    """Return a place by the block, and part of it, that it is for.

    Examples
    --------
    >>> from collsim.core.builder import Builder
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("all_gather"), ranks=2, parts=3)
    >>> first, second = b.scratch(2)
    >>> name_place(b.finish(), 5), name_place(b.finish(), second)
    ('block 1 part 2', 'scratch place 1')
    """
    if place >= schedule.pieces:
        return f"scratch place {place - schedule.pieces}"
    block, part = divmod(place, schedule.parts)
    return f"block {block}" if schedule.parts == 1 else f"block {block} part {part}"


def name_ranks(ranks: Sequence[int]) -> str:
    """Return a list of ranks; a long one is cut short.

    Examples
    --------
    >>> name_ranks([3]), name_ranks([1, 2]), name_ranks(range(10))
    ('rank 3', 'ranks 1, 2', 'ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more')
    """
    shown = ", ".join(str(rank) for rank in ranks[:_SHOWN])
    more = f" and {len(ranks) - _SHOWN} more" if len(ranks) > _SHOWN else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {shown}{more}"
