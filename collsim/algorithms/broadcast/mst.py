"""Minimum spanning tree: in each round, all who have the data send to as many who have not."""

import numpy as np
from numpy.typing import ArrayLike

from collsim.algorithms._arrange import from_root, halvings, log2_up
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, root: int, pieces: ArrayLike) -> None:
    """List the broadcast of some pieces from `root`, as one message each."""
    order = from_root(b.ranks, root)
    for splits in halvings(b.ranks):
        b.next_round()
        low, middle, _ = np.array(splits).T
        b.copy(order[low], order[middle], np.tile(pieces, (len(splits), 1)))


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces.ravel())


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    rounds = log2_up(ranks)
    return Terms(rounds, rounds)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉(α + nβ)",
    summary="binomial tree: the number of ranks that have the data doubles in each round",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 3 (MST broadcast)",
)
