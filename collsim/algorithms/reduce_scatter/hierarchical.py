"""Inside every node first, then along the rails: the all_gather backwards."""

from collsim.algorithms._rails import even_nodes
from collsim.algorithms.compose import part, play, reverse
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the reduce_scatter: among the ranks of each node, then among those of each rail."""
    play(b, reverse(part(b, "all_gather", "hierarchical"), adds=True))


ALGORITHM = Algorithm(
    build=build,
    terms=no_terms,
    formula="on N nodes of G: (⌈log N⌉+⌈log G⌉)α + (P-1)/P·n(β+γ), (N-1)/P·nβ of it across",
    summary="reduce_scatter inside each node, then along each rail, both by Bruck's rounds",
    paper="the reverse of Träff 2006, all-gather for clusters of SMPs",
    needs=even_nodes,
)
