"""Bruck: in each round, all that a rank has goes a distance that doubles, on any rank count."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import log2_up
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, shares: NDArray[np.int64]) -> None:
    """List the all_gather.

    Before round k a rank has its own share and those of the 2^k - 1 ranks after it. The
    last round carries only what is still missing.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that each rank holds at the beginning.
    """
    every = b.every
    for bit in range(log2_up(b.ranks)):
        b.next_round()
        distance = 1 << bit
        carried = np.arange(min(distance, b.ranks - distance))
        held = (every[:, None] + carried) % b.ranks
        b.copy(every, (every - distance) % b.ranks, shares[held].reshape(every.size, -1))


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
    summary="in round k, every rank sends all that it has to the one 2^k places back",
    paper="Bruck, Ho, Kipnis, Upfal, Weathersby 1997, section 3 (concatenation)",
    symmetry=Symmetry("shift"),
)
