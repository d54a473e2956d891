"""Two binary trees, half of the message down each, chunk by chunk."""

from collections.abc import Callable

import numpy as np

from collsim.algorithms._arrange import log2_up
from collsim.algorithms._two_trees import edges_from
from collsim.algorithms.compose import Recording, over_channels, part, play
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "down", "parts", "terms"]


def parts(ranks: int, chunks: int) -> int:
    """Cut the message into two halves of so many chunks each."""
    return 2 * chunks


def down(channel: int, channels: int = 1) -> Callable[[Builder], None]:
    """Return how to list the pipelined broadcast of one channel.

    A chunk sets off when the one before it in its tree has arrived. Otherwise the root,
    which has all chunks at once, would have the ports below it promised to them all.
    """

    def build(b: Builder) -> None:
        halves, count = b.pieces.reshape(2, b.chunks, -1), b.chunks
        src, dst, tree, first = edges_from(b.setting, b.root, channel, channels)
        for step in range(int(first.max()) + 2 * count - 1):
            b.next_round()
            chunk = (step - first) // 2
            now = np.flatnonzero((step >= first) & ((step - first) % 2 == 0) & (chunk < count))
            if now.size:
                b.copy(src[now], dst[now], halves[tree[now], chunk[now]], turn=tree[now])

    return build


def build(b: Builder) -> None:
    """List the operations: a broadcast in every channel."""

    def trees(channel: int) -> Recording:
        share = b.share(channel)
        return part(b, "broadcast", down(channel, b.channels), pieces=share, chunks=b.chunks)

    play(b, over_channels(b.channels, trees))


def terms(ranks: int, chunks: int) -> Terms:
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
    summary="half of the message goes down each of two trees, of ranks or of nodes",
    paper="Sanders, Speck, Träff 2009, Two-tree algorithms for full bandwidth broadcast",
    chunked=True,
    channeled=True,
    rings=True,
    parts=parts,
)
