"""Every rank sends its share to every other, all at once."""

import numpy as np
from numpy.typing import NDArray

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, shares: NDArray[np.int64]) -> None:
    """List the all_gather: one round, in which nobody waits for what another sends.

    With one port a rank still sends one message at a time. Receivers are listed in a
    rotation, so that no two ranks begin with the same one.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that each rank holds at the beginning.
    """
    every = np.arange(b.ranks)
    b.next_round()
    for step in range(1, b.ranks):
        b.copy(every, (every + step) % b.ranks, shares)


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.pieces)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="every rank sends its share straight to every other, all at once",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 2; one-step on full meshes",
)
