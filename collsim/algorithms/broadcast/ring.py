"""Pipelined pass around the ring, in chunks that follow each other."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.algorithms._rings import ring_order
from collsim.algorithms.compose import Recording, over_channels, part, play
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "ring", "steps", "terms"]


def steps(b: Builder, root: int, chunks: NDArray[np.int64]) -> None:
    """List the pipelined broadcast from `root`.

    Parameters
    ----------
    chunks : int array, shape (c, m)
        Pieces of each chunk, in the order in which chunks leave the root.
    """
    order = from_root(b.ranks, root)
    hops, count = b.ranks - 1, len(chunks)
    for step in range(hops - 1 + count):
        b.next_round()
        hop = np.arange(max(0, step - count + 1), min(hops, step + 1))
        b.copy(order[hop], order[hop + 1], chunks[step - hop])


def around(b: Builder) -> None:
    """List one ring, which goes around by the ranks from rank 0."""
    steps(b, 0, b.pieces.reshape(b.chunks, 1))


def build(b: Builder) -> None:
    """List the operations: a ring in every channel, in an order of its own."""
    play(b, over_channels(b.channels, lambda channel: ring(b, channel)))


def ring(b: Builder, channel: int, backwards: bool = False) -> Recording:
    """Return the ring of one channel, from the root.

    Backwards it goes around the other way, and sends the last chunk first: so that its
    reverse, a reduction, goes around this way, and sends the first chunk first.
    """
    step = -1 if backwards else 1
    order = ring_order(b.setting, channel, b.channels)[::step]
    order = np.roll(order, -int(np.flatnonzero(order == b.root)[0]))
    pieces = b.share(channel)[:, ::step]
    return part(b, "broadcast", around, ranks=order, pieces=pieces, chunks=b.chunks)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    if ranks == 1:
        return Terms(0, 0)
    rounds = ranks - 2 + chunks
    return Terms(rounds, rounds / chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-2+c)(α + nβ/c)",
    summary="each rank passes the data on to the next, chunk by chunk",
    paper="pipelined chain; Patarasu, Faraj, Yuan 2008; NCCL's ring broadcast",
    chunked=True,
    channeled=True,
    rings=True,
)
