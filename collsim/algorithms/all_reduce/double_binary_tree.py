"""Up two binary trees and down again, half of the array in each, chunk by chunk."""

from collsim.algorithms._arrange import log2_up
from collsim.algorithms._two_trees import across_in_turns
from collsim.algorithms.broadcast import double_binary_tree as broadcast
from collsim.algorithms.compose import Recording, over_channels, part, play, then
from collsim.algorithms.reduce import double_binary_tree as reduce
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations: in every channel, up to the GPU that has its NIC, and down."""
    first = b.setting.members[0]

    def trees(channel: int) -> Recording:
        root, share = int(first[channel % first.size]), b.share(channel)
        down = part(
            *(b, "broadcast", broadcast.down(channel, b.channels)),
            pieces=share,
            root=root,
            chunks=b.chunks,
        )
        if b.setting.nodes > 1:
            down = across_in_turns(down, b.setting)
        return then(reduce.up(b, channel, root), down)

    play(b, over_channels(b.channels, trees))


def terms(ranks: int, chunks: int) -> Terms:
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
    summary="half of the array goes up and down each of two trees, of ranks or of nodes",
    paper="Sanders, Speck, Träff 2009, Two-tree algorithms; NCCL's Tree",
    chunked=True,
    channeled=True,
    rings=True,
    parts=broadcast.parts,
)
