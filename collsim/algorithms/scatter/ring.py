"""Around the ring, the share for the furthest rank first."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, root: int, shares: NDArray[np.int64]) -> None:
    """List the scatter from `root`.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that are for each rank.
    """
    order = from_root(b.ranks, root)
    for step in range(b.ranks - 1):
        b.next_round()
        hop = np.arange(step + 1)
        target = b.ranks - 1 - step + hop
        b.copy(order[hop], order[hop + 1], shares[order[target]])


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="shares travel around the ring, that of the furthest rank first",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket algorithms)",
)
