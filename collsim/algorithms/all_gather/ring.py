"""Around the ring: in each step, every rank passes on the share that it received last."""

import numpy as np
from numpy.typing import NDArray

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, shares: NDArray[np.int64]) -> None:
    """List the all_gather.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that each rank holds at the beginning.
    """
    every = np.arange(b.ranks)
    for step in range(b.ranks - 1):
        b.next_round()
        b.copy(every, (every + 1) % b.ranks, shares[(every - step) % b.ranks])


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.pieces)


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="every rank passes on to the next the share that it received last",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket all_gather)",
)
