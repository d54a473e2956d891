"""Pipelined pass around the ring to the root, combining on the way."""

from collsim.algorithms.broadcast.ring import ring
from collsim.algorithms.compose import Recording, over_channels, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: a ring in every channel, that of a broadcast backwards.

    So it goes around the way that a broadcast goes, and the root comes last. Chunks set off
    in their order.
    """

    def backwards(channel: int) -> Recording:
        return reverse(ring(b, channel, backwards=True), adds=True)

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
)
