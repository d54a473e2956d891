"""Everybody sends each part to its owner, who sends the sum to everybody."""

from collsim.algorithms._arrange import one_part_per_rank
from collsim.algorithms.compose import part, play, then
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations: two rounds, in each of which everyone meets everyone."""
    play(b, then(part(b, "reduce_scatter", "direct"), part(b, "all_gather", "direct")))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: through one port, the messages of a round take turns."""
    share = (ranks - 1) / ranks
    return Terms(2 * (ranks - 1), 2 * share, share, exact_with_gamma=ranks <= 2)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2(P-1)α + (P-1)/P·n(2β + γ)",
    summary="every part goes straight to its owner, which sends the sum straight to all",
    paper="NVIDIA TensorRT-LLM and vLLM: custom all_reduce, two-shot",
    parts=one_part_per_rank,
)
