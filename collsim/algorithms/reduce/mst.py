"""Minimum spanning tree: the MST broadcast run backwards, combining on the way."""

import numpy as np
from numpy.typing import ArrayLike

from collsim.algorithms._arrange import from_root, halvings, log2_up
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, root: int, pieces: ArrayLike) -> None:
    """List the reduction of some pieces to `root`, as one message each."""
    order = from_root(b.ranks, root)
    for splits in reversed(list(halvings(b.ranks))):
        b.next_round()
        low, middle, _ = np.array(splits).T
        b.reduce(order[middle], order[low], np.tile(pieces, (len(splits), 1)))


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces.ravel())


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost.

    With gamma it is exact where P is a power of two; elsewhere some rank reduces one
    message while the next is on its way.
    """
    rounds = log2_up(ranks)
    return Terms(rounds, rounds, rounds, exact_with_gamma=ranks & (ranks - 1) == 0)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉(α + nβ + nγ)",
    summary="binomial tree: the number of ranks that still hold a part halves in each round",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 3 (MST reduce)",
)
