"""Around the ring: partial sums of a share travel until they reach its owner."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._rings import Ring, channel_rings, reduce_scatter
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, shares: NDArray[np.int64]) -> None:
    """List the reduce_scatter.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that each rank holds the sum of at the end.
    """
    reduce_scatter(b, [Ring(np.arange(b.ranks), shares)])


def build(b: Builder) -> None:
    """List the operations."""
    reduce_scatter(b, channel_rings(b))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: each step waits for the reduction of the one before."""
    share = (ranks - 1) / ranks
    return Terms(ranks - 1, share, share)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·n(β + γ)",
    summary="every rank adds its own to the partial sum that it received last and passes it on",
    channeled=True,
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket reduce_scatter)",
)
