"""Recursive halving: recursive doubling backwards; what is exchanged halves in each round."""

from collsim.algorithms._fold import in_step
from collsim.algorithms.all_gather import recursive_doubling as doubling
from collsim.algorithms.compose import in_turns, part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: ranks beyond a power of two hand in all, and get their share."""
    halving = reverse(part(b, "all_gather", "recursive_doubling"), adds=True)
    play(b, in_turns(halving, strict=True) if in_step(b) else halving)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: each round waits for the reduction of the one before."""
    up = doubling.terms(ranks, chunks)
    return Terms(up.alphas, up.betas, up.betas, up.exact)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ (2⌈log P⌉-⌊log P⌋)α + (1+2(⌈log P⌉-⌊log P⌋))(P-1)/P·n(β + γ)",
    summary="partners swap the half that the other is responsible for; it halves every round",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.3 (recursive halving)",
    symmetry=Symmetry("xor"),
)
