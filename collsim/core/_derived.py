"""From messages that were listed to a schedule: columns of all, and who waits for whom."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from collsim.core._listed import Int32, Int64, Listed
from collsim.core._operands import check_places, join, repeated, rows_of
from collsim.core.collective import Collective
from collsim.core.dependencies import dependencies, with_turns
from collsim.core.schedule import Schedule

__all__ = ["derived"]


def derived(
    listed: Listed,
    parties: int,
    slots: int,
    *,
    collective: Collective,
    ranks: int,
    root: int,
    parts: int,
    scratch: int,
) -> Schedule:
    """Derive the dependencies of what was listed and return the schedule.

    Parameters
    ----------
    listed : Listed
        What was listed call by call is let go of as it is joined: it is as much again.
    parties, slots : int
        Of how many ranks and switches the places are told apart, and how many each has.
    collective, ranks, root, parts, scratch
        What a schedule is told beside its messages.

    Raises
    ------
    InputError
        If a sender, receiver or place does not exist.
    """
    src, dst, piece, into = _joined(listed)
    n = src.size
    rows = [np.zeros((0, 6), dtype=np.int64), *(np.atleast_2d(one) for one in listed.alike)]
    kinds, channels, rounds, widths, strict, counts = np.concatenate(rows).T
    kind = np.repeat(kinds.astype(np.int8), counts)
    width = int(widths[0]) if n and (widths == widths[0]).all() else 0
    rows_at = partial(rows_of, width, widths, counts)
    later: dict[str, Callable[[], NDArray[np.generic]]] = {
        "round": partial(np.repeat, rounds.astype(np.int32), counts),
        "piece_ptr": rows_at,
    }
    # Rows of one width need no pointers.
    ptr: int | Int64 = width or rows_at()
    if not width:
        later["piece_ptr"] = partial(np.asarray, ptr)
    check_places(src, dst, piece, into, parties, slots)
    each = kind if width == 1 else np.repeat(kind, width or np.diff(ptr))
    accesses = (each, ptr, piece, into, slots)
    if listed.in_turns:
        turn = join(listed.turn)
        listed.turn = [turn]
        if (turn >= 0).any():
            strictly = np.repeat(strict, counts) == 1
            accesses = with_turns(each, rows_at(), piece, into, slots, turn, strictly)
    dep_ptr, dep = dependencies(src, dst, *accesses, parties)
    last = max(int(src.max(initial=0)), int(dst.max(initial=0)))
    rounds = rounds[counts > 0]
    return Schedule.derived(
        later,
        width=width,
        rounds=int(rounds.max()) + 1 if n else 0,
        turns=int(np.count_nonzero(rounds[1:] != rounds[:-1])) + 1 if n else 0,
        src=src,
        dst=dst,
        kind=kind,
        channel=repeated(channels.astype(np.int16), counts),
        piece=piece,
        into=into,
        dep_ptr=dep_ptr,
        dep=dep,
        agents=max(0, last + 1 - ranks),
        collective=collective,
        ranks=ranks,
        root=root,
        parts=parts,
        scratch=scratch,
    )


def _joined(listed: Listed) -> tuple[Int32, Int32, Int32, Int32]:
    """Return senders, receivers, pieces and places of all calls; `listed` keeps them so."""
    src, dst = (join([ends[i] for ends in listed.ends]) for i in range(2))
    listed.ends = [(src, dst)]
    piece = into = join(listed.pieces)
    if any(places is not None for places in listed.into):
        pairs = zip(listed.pieces, listed.into, strict=True)
        into = join([p if places is None else places for p, places in pairs])
    listed.pieces, listed.into = [piece], [None if into is piece else into]
    return src, dst, piece, into
