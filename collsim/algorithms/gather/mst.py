"""Minimum spanning tree: the MST scatter run backwards."""

from collsim.algorithms.compose import part, play, reverse
from collsim.algorithms.scatter import mst as scatter
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]

terms = scatter.terms


def build(b: Builder) -> None:
    """List the operations."""
    play(b, reverse(part(b, "scatter", "mst"), adds=False))


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·nβ",
    summary="neighbouring ranges of shares are joined, two by two, until the root has all",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 3 (MST gather)",
)
