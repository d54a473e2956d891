"""Inside every node, along the rails, to the root: the hierarchical broadcast backwards."""

from collsim.algorithms._arrange import one_part_per_rank
from collsim.algorithms._rails import even_nodes
from collsim.algorithms._reverse import reverse
from collsim.algorithms.broadcast import hierarchical as broadcast
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps"]


def steps(b: Builder) -> None:
    """List the reduce: reduce_scatter in every node, reduce along each rail, gather."""
    reverse(b, broadcast.steps, turn=0)


ALGORITHM = Algorithm(
    build=steps,
    terms=no_terms,
    formula="on N nodes of G: (⌈log G⌉+⌈log N⌉+G-1)α + (2(G-1)+⌈log N⌉)/G·n(β+γ)",
    summary="reduce_scatter in every node, MST along each rail, gather in the root's node",
    paper="composition; Rabenseifner's reduce over rails, as Thakur et al. 2005, section 4.5",
    parts=one_part_per_rank,
    needs=even_nodes,
)
