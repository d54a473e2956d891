"""Bruck's all_gather backwards: partial sums go a distance that halves, on any rank count."""

from collsim.algorithms._arrange import log2_up
from collsim.algorithms.compose import part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, reverse(part(b, "all_gather", "bruck"), adds=True))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost.

    With gamma it is exact where the second round sends on something that the first round
    brought; elsewhere it need not wait for the first one's reduction.
    """
    share = (ranks - 1) / ranks
    rounds = log2_up(ranks)
    waits = rounds <= 1 or 4 * ranks > 3 << rounds
    return Terms(rounds, share, share, exact_with_gamma=waits)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·n(β + γ)",
    summary="partial sums travel the furthest first, 2^k ranks in round k from the last to 0",
    paper="the reverse of Bruck, Ho, Kipnis, Upfal, Weathersby 1997, section 3",
    symmetry=Symmetry("shift"),
)
