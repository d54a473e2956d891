"""Pipelined pass around the ring to the root, combining on the way."""

from collsim.algorithms._rings import share_cables
from collsim.algorithms.broadcast.ring import ring
from collsim.algorithms.compose import Recording, in_turns, over_channels, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: a ring in every channel, that of a broadcast backwards.

    So it goes around the way that a broadcast goes, and the root comes last. Chunks set off
    in their order. Where two rings of a node share a cable, they set off one by one: a rank
    with which one ring begins has all its chunks ready at once, and would otherwise send them
    before what it passes on in the other.
    """
    shared = b.channels > 1 and share_cables(b.setting)

    def backwards(channel: int) -> Recording:
        back = reverse(ring(b, channel, backwards=True), adds=True)
        return in_turns(back) if shared else back

    play(b, over_channels(b.channels, backwards))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost; with gamma and several chunks reductions overlap."""
    if ranks == 1:
        return Terms(0, 0)
    rounds = ranks - 2 + chunks
    share = rounds / chunks
    return Terms(rounds, share, share, exact_with_gamma=chunks == 1)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-2+c)(α + nβ/c + nγ/c)",
    summary="each rank adds its own and passes the sum on to the next, chunk by chunk",
    paper="pipelined chain; Patarasu, Faraj, Yuan 2008; NCCL's ring reduce",
    chunked=True,
    channeled=True,
    rings=True,
)
