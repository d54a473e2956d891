"""Inside the node to the rail of the receiver, then along that rail to its node."""

from collsim.algorithms._rails import even_nodes, grid
from collsim.algorithms._two_levels import inside_of, one_of, rail_of, refused
from collsim.algorithms.compose import part, play, then
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.option import Option
from collsim.core.setting import Setting

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

    def needs(setting: Setting) -> str | None:
        steps = (inside, inside_of(setting)), (across, rail_of(setting))
        return even_nodes(setting) or refused(("all_to_all", *step) for step in steps)

    read = one_of("all_to_all")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (G-1)(α + nβ/G) + (N-1)(α + nβ/N), the second part across",
        summary="to the receiver's rail inside the node, then along it, in few large messages",
        paper="two-level exchange; NCCL's PXN does the first step over NVLink",
        needs=needs,
        options={
            "inside": Option("direct", "an all_to_all", read, mst_of_many),
            "across": Option("direct", "an all_to_all", read),
        },
        vary=lambda values: of(str(values["inside"]), str(values["across"])),
    )


def mst_of_many(setting: Setting) -> tuple[str, ...]:
    """Return what takes fewer messages inside a node."""
    return ("mst",) if setting.fewest > 2 else ()


ALGORITHM = of("direct", "direct")
