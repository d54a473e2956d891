"""Around the ring: in each step, every rank passes on the share that it received last."""

import numpy as np

from collsim.algorithms._rings import ring_order
from collsim.algorithms.compose import Recording, over_channels, part, play
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "around", "terms"]


def around(b: Builder) -> None:
    """List one ring, which goes around by the ranks."""
    every = np.arange(b.ranks)
    for step in range(b.ranks - 1):
        b.next_round()
        b.copy(every, (every + 1) % b.ranks, b.pieces[(every - step) % b.ranks])


def build(b: Builder) -> None:
    """List the operations: a ring in every channel, in an order of its own."""

    def ring(channel: int) -> Recording:
        order = ring_order(b.setting, channel, b.channels)
        return part(b, "all_gather", around, ranks=order, pieces=b.share(channel)[order])

    play(b, over_channels(b.channels, ring))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="every rank passes on to the next the share that it received last",
    channeled=True,
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket all_gather)",
)
