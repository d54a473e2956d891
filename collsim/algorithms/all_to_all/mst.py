"""Log-round exchange (Bruck): round k carries all messages whose distance has bit k set."""

import numpy as np

from collsim.algorithms._arrange import log2_up
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations.

    A message from s to d has the distance (d - s) mod P. In round k it moves on by 2^k
    if its distance has bit k set, so before that round it is at s plus the lower bits.
    """
    every, distances = b.every, np.arange(b.ranks)
    message = b.pieces.reshape(b.ranks, b.ranks)
    for bit in range(log2_up(b.ranks)):
        b.next_round()
        distance = distances[(distances >> bit) & 1 == 1]
        source = (every[:, None] - (distance & ((1 << bit) - 1))) % b.ranks
        target = (source + distance) % b.ranks
        b.copy(every, (every + (1 << bit)) % b.ranks, message[source, target])


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    carried = sum(j.bit_count() for j in range(1, ranks))
    return Terms(log2_up(ranks), carried / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + nβ/P·Σₖ #{1 ≤ j < P : bit k of j set}",
    summary="in round k, messages whose distance has bit k set move on by 2^k ranks together",
    paper="Bruck, Ho, Kipnis, Upfal, Weathersby 1997",
    symmetry=Symmetry("shift"),
)
