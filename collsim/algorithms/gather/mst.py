"""Minimum spanning tree: the MST scatter run backwards."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root, halvings
from collsim.algorithms.scatter import mst as scatter
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]

terms = scatter.terms


def steps(b: Builder, root: int, shares: NDArray[np.int64]) -> None:
    """List the gather to `root`.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that come from each rank.
    """
    order = from_root(b.ranks, root)
    for splits in reversed(list(halvings(b.ranks))):
        b.next_round()
        for low, middle, high in splits:
            b.copy(order[middle], order[low], shares[order[middle:high]].ravel())


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·nβ",
    summary="neighbouring ranges of shares are joined, two by two, until the root has all",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 3 (MST gather)",
)
