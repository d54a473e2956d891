"""Each rank sends the root its share in turn."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.algorithms.scatter import linear as scatter
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]

terms = scatter.terms


def steps(b: Builder, root: int, shares: NDArray[np.int64]) -> None:
    """List the messages to `root`, one a round.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that come from each rank.
    """
    for rank in from_root(b.ranks, root)[1:]:
        b.next_round()
        b.copy(rank, root, shares[rank])


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="each rank sends the root its share in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
