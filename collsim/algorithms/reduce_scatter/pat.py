"""Parallel aggregated trees backwards: neighbours add up first, and least goes furthest."""

from collsim.algorithms.compose import part, play, reverse
from collsim.algorithms.reduce_scatter import bruck
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]

# As many bytes in each round, in the other order; and the furthest, now the last, waits for
# an earlier reduction under the same condition.
terms = bruck.terms


def build(b: Builder) -> None:
    """List the operations."""
    play(b, reverse(part(b, "all_gather", "pat"), adds=True))


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·n(β + γ)",
    summary="shifted binomial trees to the owners, one message a round: the nearest first",
    paper="Jeaugey 2025, PAT: all-gather and reduce-scatter at scale; NCCL 2.23 and later",
)
