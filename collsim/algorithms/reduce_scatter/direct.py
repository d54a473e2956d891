"""Every rank sends each part straight to its owner, all at once."""

import numpy as np

from collsim.algorithms.compose import part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: the rotation goes up the ranks, as that of the all_gather does."""
    around = -np.arange(b.ranks) % b.ranks
    gather = part(b, "all_gather", "direct", ranks=around, pieces=b.pieces[around])
    play(b, reverse(gather, adds=True))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost; with gamma an owner reduces while the next message comes."""
    share = (ranks - 1) / ranks
    return Terms(ranks - 1, share, share, exact_with_gamma=ranks <= 2)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·n(β + γ)",
    summary="every rank sends each part straight to the rank that adds it up, all at once",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.3 (pairwise exchange)",
)
