"""Pipelined pass around the ring, in chunks that follow each other."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root, parts_are_chunks
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


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


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces.reshape(b.chunks, 1))


def terms(ranks: int, chunks: int = 1) -> Terms:
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
    parts=parts_are_chunks,
)
