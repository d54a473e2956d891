"""The root sends each rank its share in turn."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, root: int, shares: NDArray[np.int64]) -> None:
    """List the messages from `root`, one a round.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that are for each rank.
    """
    for rank in from_root(b.ranks, root)[1:]:
        b.next_round()
        b.copy(root, rank, shares[rank])


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
    summary="the root sends each rank its share in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
