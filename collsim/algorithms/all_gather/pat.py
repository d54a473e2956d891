"""Parallel aggregated trees: the furthest ranks first, when there is least to carry."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import log2_up
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, shares: NDArray[np.int64]) -> None:
    """List the all_gather.

    Every share travels down a binomial tree whose root is its owner; the P trees are one
    tree, shifted. What goes the same way in the same round is one message. The distance
    halves from round to round while the load doubles, so that most bytes stay near, where
    Bruck sends most of them across the whole machine.

    Modelled is the aggregation of a whole round, as NCCL does it while the round fits its
    buffers. Beyond, NCCL sends it in several messages; that limit is none of a schedule
    that serves all sizes.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that each rank holds at the beginning.
    """
    every = np.arange(b.ranks)
    for bit in reversed(range(log2_up(b.ranks))):
        b.next_round()
        distance = 1 << bit
        # How far behind the owners lie whose shares have come this far, and go further.
        travelled = np.arange(0, b.ranks - distance, 2 * distance)
        held = (every[:, None] - travelled) % b.ranks
        b.copy(every, (every + distance) % b.ranks, shares[held].reshape(b.ranks, -1))


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.pieces)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: every rank receives each share once."""
    return Terms(log2_up(ranks), (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·nβ",
    summary="shifted binomial trees, one message a round: the furthest and smallest first",
    paper="Jeaugey 2025, PAT: all-gather and reduce-scatter at scale; NCCL 2.23 and later",
)
