"""Two binary trees, half of the message down each, chunk by chunk."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root, log2_up
from collsim.algorithms._two_trees import two_trees
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "parts", "steps", "terms"]


def parts(ranks: int, chunks: int) -> int:
    """Cut the message into two halves of so many chunks each."""
    return 2 * chunks


def steps(b: Builder, root: int, halves: NDArray[np.int64]) -> None:
    """List the pipelined broadcast from `root`.

    A chunk sets off when the one before it in its tree has arrived. Otherwise the root,
    which has all chunks at once, would have the ports below it promised to them all.

    Parameters
    ----------
    halves : int array, shape (2, c, m)
        Pieces of each chunk of the half that goes down each tree.
    """
    order = from_root(b.ranks, root)
    edges = two_trees(b.ranks)
    count = halves.shape[1]
    tree, src, dst, first = np.array(
        [(e.tree, e.src, e.dst, e.first) for e in edges], dtype=np.int64
    ).T
    for step in range(int(first.max()) + 2 * count - 1):
        b.next_round()
        chunk = (step - first) // 2
        now = np.flatnonzero((step >= first) & ((step - first) % 2 == 0) & (chunk < count))
        if now.size:
            b.copy(
                order[src[now]], order[dst[now]], halves[tree[now], chunk[now]], turn=tree[now]
            )


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces.reshape(2, b.chunks, 1))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: a bound, at most one message more than it takes.

    Chunks follow each other every second round, a chunk waits at most one round at every
    rank, and each tree is ⌈log P⌉ - 1 deep below its top.
    """
    if ranks == 1:
        return Terms(0, 0)
    rounds = 2 * (log2_up(ranks) - 1 + chunks)
    return Terms(rounds, rounds / (2 * chunks), exact=ranks == 2)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ 2(⌈log P⌉-1+c)(α + nβ/(2c))",
    summary="half of the message goes down each of two binary trees, chunk by chunk",
    paper="Sanders, Speck, Träff 2009, Two-tree algorithms for full bandwidth broadcast",
    chunked=True,
    parts=parts,
)
