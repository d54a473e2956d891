"""Every rank sends each part straight to its owner, then ring all_gather."""

import numpy as np

from collsim.algorithms._arrange import one_part_per_rank
from collsim.algorithms.all_gather import ring as all_gather
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    shares = np.reshape(b.pieces, (b.ranks, 1))
    every = np.arange(b.ranks)
    for step in range(1, b.ranks):
        b.next_round()
        owner = (every + step) % b.ranks
        b.reduce(every, owner, shares[owner])
    all_gather.steps(b, shares)


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost; with gamma an owner reduces while the next message comes."""
    share = (ranks - 1) / ranks
    direct = Terms(ranks - 1, share, share, exact_with_gamma=ranks <= 2)
    return direct + all_gather.terms(ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2(P-1)α + 2(P-1)/P·nβ + (P-1)/P·nγ",
    summary="each part goes straight to the rank that adds it up, then ring all_gather",
    paper="composition; Thakur, Rabenseifner, Gropp 2005, section 4.5 (pairwise exchange)",
    parts=one_part_per_rank,
)
