"""Around the ring to the root, the nearest rank's share first."""

import numpy as np

from collsim.algorithms.compose import part, play, reverse
from collsim.algorithms.scatter import ring as scatter
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]

terms = scatter.terms


def build(b: Builder) -> None:
    """List the operations: around the ring the other way, backwards.

    So it goes around the way that a broadcast goes, and the root comes last.
    """
    around = -np.arange(b.ranks) % b.ranks
    scatter = part(b, "scatter", "ring", ranks=around, pieces=b.pieces[around])
    play(b, reverse(scatter, adds=False))


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="shares travel around the ring to the root, that of the nearest rank first",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket algorithms)",
)
