"""Along the rails by MST, then inside the root's node: the hierarchical scatter backwards."""

from collsim.algorithms._rails import even_nodes
from collsim.algorithms.compose import part, play, reverse
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the gather: along every rail to the root's node, then to the root."""
    play(b, reverse(part(b, "scatter", "hierarchical"), adds=False))


ALGORITHM = Algorithm(
    build=build,
    terms=no_terms,
    formula="on N nodes of G: (⌈log N⌉+G-1)α + (P-1)/P·nβ, of which (N-1)/P·nβ across",
    summary="MST gather along the rails, then each rank of the root's node hands on its rail's",
    paper="composition: the MST gather of Chan et al. 2007, with a rail per rank of a node",
    needs=even_nodes,
)
