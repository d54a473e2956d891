"""Up two binary trees and down again, half of the array in each, chunk by chunk."""

from collsim.algorithms._arrange import log2_up
from collsim.algorithms.broadcast import double_binary_tree as broadcast
from collsim.algorithms.compose import part, play, then
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    up, down = (
        part(b, kind, "double_binary_tree", chunks=b.chunks) for kind in ("reduce", "broadcast")
    )
    play(b, then(up, down))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: a bound, tried on 2 to 129 ranks and not proven.

    Up and down take 2(⌈log P⌉-1+c) rounds each. Where both meet, a chunk that comes down may
    wait for one that goes up; at every rank on the way by less than two messages.
    """
    if ranks == 1:
        return Terms(0, 0)
    rounds = 4 * (2 * log2_up(ranks) - 1 + chunks)
    return Terms(rounds, rounds / (2 * chunks), rounds / (4 * chunks), exact=False)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ (2⌈log P⌉-1+c)(4α + 2nβ/c + nγ/c)",
    summary="half of the array goes up and down each of two binary trees, chunk by chunk",
    paper="Sanders, Speck, Träff 2009, Two-tree algorithms; NCCL's Tree",
    chunked=True,
    parts=broadcast.parts,
)
