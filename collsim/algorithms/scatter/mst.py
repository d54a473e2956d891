"""Minimum spanning tree: who holds a range of shares sends half of it on."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root, halvings, log2_up
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
    for splits in halvings(b.ranks):
        b.next_round()
        for low, middle, high in splits:
            b.copy(order[low], order[middle], shares[order[middle:high]].ravel())


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: the sender keeps the larger half."""
    return Terms(log2_up(ranks), (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·nβ",
    summary="who holds a range of shares sends the smaller half of it to a rank of that half",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 3 (MST scatter)",
)
