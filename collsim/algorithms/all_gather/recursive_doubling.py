"""Recursive doubling: partners exchange all that they have, and it doubles in each round."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import log2_up
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "limits", "steps", "terms"]


def limits(ranks: int) -> str | None:
    """Return why it can't run on so many ranks."""
    if ranks & (ranks - 1) == 0:
        return None
    return (
        f"partners differ in one bit of their rank, so it takes a power of two, not {ranks} "
        "ranks; bruck takes as many rounds on any number"
    )


def steps(b: Builder, shares: NDArray[np.int64]) -> None:
    """List the all_gather.

    Parameters
    ----------
    shares : int array, shape (P, m)
        Pieces that each rank holds at the beginning.
    """
    every = np.arange(b.ranks)
    for bit in range(log2_up(b.ranks)):
        b.next_round()
        width = 1 << bit
        held = every[:, None] // width * width + np.arange(width)
        b.copy(every, every ^ width, shares[held].reshape(b.ranks, -1))


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.pieces)


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost."""
    return Terms(log2_up(ranks), (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·nβ",
    summary="in round k, ranks that differ in bit k exchange all that they have",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.1 (recursive doubling)",
    limits=limits,
)
