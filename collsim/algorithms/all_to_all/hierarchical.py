"""Inside the node to the rail of the receiver, then along that rail to its node."""

from collsim.algorithms._rails import grid
from collsim.algorithms._two_levels import both, mst_of_many, needs_of, one_of, varied
from collsim.algorithms.compose import part, play, then
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.option import Option

__all__ = ["ALGORITHM"]


def of(inside: str, across: str) -> Algorithm:
    """Return the algorithm with one choice of what is done inside and across."""

    def build(b: Builder) -> None:
        ranks = grid(b.setting)
        nodes, width = ranks.shape
        message = b.pieces.reshape(b.ranks, b.ranks)
        # From (a, i) to (a, j) goes what (a, i) has for the ranks of rail j.
        near = message[ranks[:, :, None, None], ranks.T[None, None]]
        # From (a, j) to (b, j) goes what all ranks of node a have for (b, j).
        far = message[ranks[None, :, None, :], ranks.T[:, None, :, None]]
        blocks = near.reshape(nodes, width**2, nodes), far.reshape(width, nodes**2, width)
        first = part(b, "all_to_all", inside, ranks=ranks, pieces=blocks[0])
        play(b, then(first, part(b, "all_to_all", across, ranks=ranks.T, pieces=blocks[1])))

    read = one_of("all_to_all")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (G-1)(α + nβ/G) + (N-1)(α + nβ/N), the second part across",
        summary="to the receiver's rail inside the node, then along it, in few large messages",
        paper="two-level exchange; NCCL's PXN does the first step over NVLink",
        needs=needs_of(both("all_to_all", inside, across)),
        options={
            "inside": Option("direct", "an all_to_all", read, mst_of_many),
            "across": Option("direct", "an all_to_all", read),
        },
        vary=varied(of),
    )


ALGORITHM = of("direct", "direct")
