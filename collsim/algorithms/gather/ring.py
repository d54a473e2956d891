"""Around the ring to the root, the nearest rank's share first."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.algorithms.scatter import ring as scatter
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]

terms = scatter.terms


def steps(b: Builder, root: int, shares: NDArray[np.int64]) -> None:
    """List the gather to `root`, which the ring reaches last.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that come from each rank.
    """
    order = from_root(b.ranks, (root + 1) % b.ranks)
    for step in range(b.ranks - 1):
        b.next_round()
        hop = np.arange(step, b.ranks - 1)
        b.copy(order[hop], order[hop + 1], shares[order[hop - step]])


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="shares travel around the ring to the root, that of the nearest rank first",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket algorithms)",
)
