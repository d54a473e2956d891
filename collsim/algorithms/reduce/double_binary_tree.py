"""Two binary trees, half of the array up each, chunk by chunk, combining on the way."""

from collsim.algorithms.broadcast import double_binary_tree as broadcast
from collsim.algorithms.compose import in_turns, part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: the broadcast backwards.

    A rank takes its two children in turns. A leaf has all its chunks ready at once, and
    would otherwise send them before what it forwards in the other tree.
    """
    broadcast = part(b, "broadcast", "double_binary_tree", chunks=b.chunks)
    play(b, in_turns(reverse(broadcast, adds=True), strict=True))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: a bound, as for the broadcast."""
    down = broadcast.terms(ranks, chunks)
    return Terms(down.alphas, down.betas, down.betas, down.exact, exact_with_gamma=False)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ 2(⌈log P⌉-1+c)(α + nβ/(2c) + nγ/(2c))",
    summary="half of the array goes up each of two binary trees, chunk by chunk",
    paper="Sanders, Speck, Träff 2009, Two-tree algorithms for full bandwidth reduction",
    chunked=True,
    parts=broadcast.parts,
)
