"""Recursive halving: recursive doubling backwards; what is exchanged halves in each round."""

from collsim.algorithms._arrange import log2_up
from collsim.algorithms.all_gather import recursive_doubling as doubling
from collsim.algorithms.compose import part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, reverse(part(b, "all_gather", "recursive_doubling"), adds=True))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: each round waits for the reduction of the one before."""
    share = (ranks - 1) / ranks
    return Terms(log2_up(ranks), share, share)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·n(β + γ)",
    summary="partners swap the half that the other is responsible for; it halves every round",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.3 (recursive halving)",
    limits=doubling.limits,
)
