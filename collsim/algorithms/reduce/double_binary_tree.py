"""Two binary trees, half of the array up each, chunk by chunk, combining on the way."""

from collsim.algorithms._two_trees import across_in_turns
from collsim.algorithms.broadcast import double_binary_tree as broadcast
from collsim.algorithms.compose import Recording, in_turns, over_channels, part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms", "up"]


def up(b: Builder, channel: int, root: int) -> Recording:
    """Return the reduction of one channel: the broadcast backwards.

    A rank takes its children in turns. On one node, a leaf has all its chunks ready at once,
    and would otherwise send them before what it forwards in the other tree. On several, a
    rank sends through links of its own to each of its neighbours, and chunks go up in their
    order, so that those that are done come down while others still go up.
    """
    share, several = b.share(channel), b.setting.nodes > 1
    if several:
        share = share.reshape(2, -1)[:, ::-1].reshape(1, -1)
    trees = broadcast.down(channel, b.channels)
    down = part(b, "broadcast", trees, pieces=share, root=root, chunks=b.chunks)
    back = reverse(down, adds=True)
    return across_in_turns(back, b.setting) if several else in_turns(back, strict=True)


def build(b: Builder) -> None:
    """List the operations: a reduction in every channel."""
    play(b, over_channels(b.channels, lambda channel: up(b, channel, b.root)))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: a bound, as for the broadcast."""
    down = broadcast.terms(ranks, chunks)
    return Terms(down.alphas, down.betas, down.betas, down.exact, exact_with_gamma=False)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ 2(⌈log P⌉-1+c)(α + nβ/(2c) + nγ/(2c))",
    summary="half of the array goes up each of two trees, of ranks or of nodes",
    paper="Sanders, Speck, Träff 2009, Two-tree algorithms for full bandwidth reduction",
    chunked=True,
    channeled=True,
    rings=True,
    parts=broadcast.parts,
)
