"""Inside every node, along the rails, to the root: the hierarchical broadcast backwards."""

from collsim.algorithms._arrange import one_part_per_rank
from collsim.algorithms._rails import even_nodes
from collsim.algorithms.compose import in_turns, part, play, reverse
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the reduce: reduce_scatter in every node, reduce along each rail, gather."""
    broadcast = part(b, "broadcast", "hierarchical")
    play(b, in_turns(reverse(broadcast, adds=True), strict=True))


ALGORITHM = Algorithm(
    build=build,
    terms=no_terms,
    formula="on N nodes of G: (⌈log G⌉+⌈log N⌉+G-1)α + (2(G-1)+⌈log N⌉)/G·n(β+γ)",
    summary="reduce_scatter in every node, MST along each rail, gather in the root's node",
    paper="composition; Rabenseifner's reduce over rails, as Thakur et al. 2005, section 4.5",
    parts=one_part_per_rank,
    needs=even_nodes,
)
