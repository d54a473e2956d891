"""Minimum spanning tree: the MST broadcast run backwards, combining on the way."""

from collsim.algorithms._arrange import log2_up
from collsim.algorithms.compose import part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, reverse(part(b, "broadcast", "mst"), adds=True))


def terms(ranks: int, chunks: int) -> Terms:
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
