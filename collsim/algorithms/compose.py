"""Algorithms made of others: on some ranks, some pieces, backwards, in turn, or at once.

A :class:`Recording` is what an algorithm lists, in the ranks and pieces of a builder. An
algorithm that is the sequence or the reverse of others is written as such, and played:

    def build(b):
        play(b, then(part(b, "reduce", "mst"), part(b, "broadcast", "mst")))
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from collsim.algorithms._given import numbers
from collsim.algorithms._part import Build, part
from collsim.algorithms._recorder import Recorder, play
from collsim.algorithms._recording import Call, Recording, apart, checked, together
from collsim.core.builder import Builder
from collsim.core.collective import check_count
from collsim.core.schedule import COPY, REDUCE
from collsim.errors import InputError

__all__ = [
    "Recording",
    "Step",
    "in_chunks",
    "in_turns",
    "inside_across",
    "over_channels",
    "part",
    "pipeline",
    "play",
    "reverse",
    "then",
    "together",
]

# A collective, and how it is done: an algorithm's name, or a function that lists it.
Step = tuple[str, str | Build]


def then(*recordings: Recording) -> Recording:
    """Return one recording after the other.

    Each has scratch places and queues of its own. What waits for what is told by the data:
    a message of the second sets off when what it carries is there.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("all_reduce"), ranks=4)
    >>> len(then(part(b, "reduce", "mst"), part(b, "broadcast", "mst")).rounds)
    4
    """
    return _in_a_row(apart(recordings))


def pipeline(*recordings: Recording) -> Recording:
    """Return one recording after the other, in which receivers keep their queues.

    So chunks that go the same way follow each other in the turns that each of them takes.
    """
    return _in_a_row(apart(recordings, queues=False))


def _in_a_row(parts: list[Recording]) -> Recording:
    rounds = tuple(chain.from_iterable(recording.rounds for recording in parts))
    return replace(parts[-1], rounds=rounds)


def reverse(recording: Recording, adds: bool) -> Recording:
    """Return a recording backwards: who received sends, the last round first.

    Where every piece is handed down a tree, once to every rank, the reverse adds it up
    along the same tree: a broadcast becomes a reduce, an all_gather a reduce_scatter. A
    scatter becomes a gather, which copies.

    Messages that were listed at once are listed by sender. Turns are dropped, as they belong
    to receivers; see :func:`in_turns`.

    Parameters
    ----------
    adds : bool
        Whether what was copied is added up. What was added up is copied.

    Raises
    ------
    InputError
        If data don't keep their place, or reach a rank twice: then copies backwards would
        overwrite each other, and what is added up would be counted twice.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("reduce"), ranks=3)
    >>> play(b, reverse(part(b, "broadcast", "ring"), adds=True))
    >>> schedule = b.finish()
    >>> schedule.src.tolist(), schedule.dst.tolist(), schedule.kind.tolist()
    ([2, 1], [1, 0], [1, 1])
    """

    def change(call: Call) -> Call:
        if call.into is not None:
            raise InputError("reverse: data must keep their place")
        kind = REDUCE if adds and call.kind == COPY else COPY
        sender = call.dst % within if within else call.dst
        by_sender = np.argsort(sender, kind="stable")
        return replace(
            call,
            kind=kind,
            src=call.dst[by_sender],
            dst=call.src[by_sender],
            pieces=call.pieces[by_sender],
            turn=None,
            strict=False,
        )

    within = checked(recording, "reverse").within
    turned = recording.changed(change, queues=0)
    turned = replace(turned, rounds=turned.rounds[::-1])
    _check_once(turned)
    return turned


def _check_once(turned: Recording) -> None:
    """Refuse that a place is overwritten twice, or a share of a sum sent twice."""
    calls = list(chain.from_iterable(turned.rounds))
    for kind, ends, what in ((COPY, "dst", "overwritten"), (REDUCE, "src", "added up")):
        rows = [(getattr(c, ends), c.pieces) for c in calls if c.kind == kind]
        if not rows:
            continue
        places = turned.pieces + turned.scratch
        # Ranks times places may be more than 32 bits hold.
        keys = np.concatenate(
            [(end[:, None].astype(np.int64) * places + p).ravel() for end, p in rows]
        )
        found = np.sort(keys)
        twice = found[1:][found[1:] == found[:-1]]
        if twice.size:
            rank, piece = divmod(int(twice[0]), places)
            raise InputError(
                f"reverse: piece {piece} of rank {rank} would be {what} twice, as it goes "
                "down no tree"
            )


def in_turns(recording: Recording, strict: bool = False) -> Recording:
    """Return a recording whose messages all take turns: every receiver keeps one queue.

    Parameters
    ----------
    strict : bool
        Whether a message also waits for the one that its sender listed before it.
    """
    return checked(recording, "in_turns").changed(
        lambda call: replace(call, turn=np.zeros(call.src.size, dtype=np.int64), strict=strict),
        queues=1,
    )


def over_channels(channels: int, make: Callable[[int], Recording]) -> Recording:
    """Return what `make` gives for each channel, side by side, each in its channel.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("broadcast"), ranks=2, channels=2)
    >>> two = over_channels(2, lambda c: part(b, "broadcast", "mst", pieces=b.share(c)))
    >>> [(call.channel, call.pieces.tolist()) for call in two.rounds[0]]
    [(0, [[0]]), (1, [[1]])]
    """

    def of(channel: int) -> Recording:
        return checked(make(channel), "over_channels").changed(
            lambda call: replace(call, channel=channel)
        )

    return together(*(of(channel) for channel in range(check_count("channels", channels))))


def in_chunks(b: Builder, pieces: ArrayLike, make: Callable[[Builder], Recording]) -> Recording:
    """Return the same with one chunk after the other, each with its pieces.

    Parameters
    ----------
    b : Builder
        Of the whole.
    pieces : int array, shape (chunks, x)
        Pieces of every chunk.
    make : callable
        Given a builder with the pieces of one chunk, numbered from 0.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("broadcast"), ranks=3, parts=2)
    >>> chain = in_chunks(b, b.pieces.T, lambda one: part(one, "broadcast", "ring"))
    >>> [(calls[0].src.tolist(), calls[0].pieces.tolist()) for calls in chain.rounds]
    [([0], [[0]]), ([1], [[0]]), ([0], [[1]]), ([1], [[1]])]
    """
    chunks = numbers("in_chunks: pieces", pieces, b.pieces.size, "pieces")
    blocks = len(b.pieces)
    if chunks.ndim != 2 or chunks.shape[1] % blocks:
        raise InputError(
            f"in_chunks: pieces has shape {chunks.shape}, expected (chunks, x), x a multiple "
            f"of {blocks}"
        )
    width = chunks.shape[1] // blocks
    recorder = Recorder(b.collective, b.setting, b.root, parts=width, fold=b.fold)
    one = checked(make(recorder), "in_chunks")
    if one.pieces != chunks.shape[1]:
        raise InputError(
            f"in_chunks: a recording of {one.pieces} pieces, expected the {chunks.shape[1]} "
            "of one chunk"
        )
    parties = np.arange(b.ranks + b.setting.agents.size)[None]
    size = b.pieces.size
    return pipeline(
        *(one.on(parties, chunk[None, :, None], size, one.within) for chunk in chunks)
    )


def inside_across(
    b: Builder,
    before: Step | None,
    across: Step,
    after: Step | None,
    *,
    pieces: ArrayLike | None = None,
) -> Recording:
    """Return what is done inside every node, then along each rail across them, then inside.

    On nodes of G ranks each, the pieces are cut into one share per rail. An all_reduce, for
    one, is a reduce_scatter inside, an all_reduce of each rail's share, and an all_gather.

    Parameters
    ----------
    b : Builder
        Of the whole; its nodes have equally many ranks.
    before, after : (str, str or callable), optional
        Collective with a block per rank, and how it is done; none where it is left out.
    across : (str, str or callable)
        Collective of one block, and how it is done.
    pieces : int array, shape (x,), optional
        Some of the pieces of `b`; x is a multiple of G. None means all.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("all_reduce"), 4, parts=2, node=[0, 0, 1, 1])
    >>> scatter, gather = ("reduce_scatter", "ring"), ("all_gather", "ring")
    >>> three = inside_across(b, scatter, ("all_reduce", "mst"), gather)
    >>> [[call.src.tolist() for call in calls] for calls in three.rounds]
    [[[0, 1, 2, 3]], [[2, 3]], [[0, 1]], [[0, 1, 2, 3]]]
    """
    if not b.setting.even:
        counts = sorted({len(members) for members in b.setting.members})
        raise InputError(
            f"inside_across: nodes of {counts[0]} to {counts[-1]} ranks, expected equally many"
        )
    ranks = np.stack(b.setting.members)
    width = ranks.shape[1]
    some = b.pieces if pieces is None else pieces
    held = numbers("inside_across: pieces", some, b.pieces.size, "pieces")
    if held.size % width:
        raise InputError(
            f"inside_across: {held.size} pieces can't be cut into a share for each of {width} "
            "ranks of a node"
        )
    shares = held.reshape(width, -1)
    found = []
    if before is not None:
        found.append(part(b, *before, ranks=ranks, pieces=shares))
    found.append(part(b, *across, ranks=ranks.T, pieces=shares[:, None]))
    if after is not None:
        found.append(part(b, *after, ranks=ranks, pieces=shares))
    return then(*found)
