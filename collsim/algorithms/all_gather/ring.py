"""Around the ring: in each step, every rank passes on the share that it received last."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._rings import Ring, all_gather, channel_rings
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
    all_gather(b, [Ring(np.arange(b.ranks), shares)])


def build(b: Builder) -> None:
    """List the operations."""
    all_gather(b, channel_rings(b))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="every rank passes on to the next the share that it received last",
    channeled=True,
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket all_gather)",
)
