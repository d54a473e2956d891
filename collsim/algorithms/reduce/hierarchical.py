"""Inside every node, along the rails, to the root: the hierarchical broadcast backwards."""

import numpy as np

from collsim.algorithms._rails import grid
from collsim.algorithms._two_levels import (
    TREES,
    inside_of,
    least_parts,
    needs_of,
    one_of,
    rail_of,
    varied,
)
from collsim.algorithms.broadcast.hierarchical import gather_without
from collsim.algorithms.compose import in_turns, part, play, reverse, then
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.option import Option
from collsim.core.setting import Setting

__all__ = ["ALGORITHM"]


def of(inside: str, across: str) -> Algorithm:
    """Return the algorithm with one choice of what is done inside and across."""

    def build(b: Builder) -> None:
        ranks = grid(b.setting)
        shares = b.pieces.reshape(ranks.shape[1], -1)
        home, place = (int(at[0]) for at in np.nonzero(ranks == b.root))
        near = reverse(gather_without(b, inside), adds=True)
        far = part(b, "reduce", across, ranks=ranks.T, pieces=shares[:, None], root=home)
        out = part(b, "scatter", "linear", ranks=ranks[home], pieces=shares, root=place)
        play(b, in_turns(then(near, far, reverse(out, adds=True)), strict=True))

    def where(setting: Setting) -> list[tuple[str, str, Setting]]:
        rail = "reduce", across, rail_of(setting)
        return [rail, ("all_gather", inside, inside_of(setting))]

    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (⌈log G⌉+⌈log N⌉+G-1)α + (2(G-1)+⌈log N⌉)/G·n(β+γ)",
        summary="reduce_scatter in every node, MST along each rail, gather in the root's node",
        paper="composition; Rabenseifner's reduce over rails, Thakur et al. 2005, section 4.5",
        parts_on=lambda setting, chunks: setting.fewest * least_parts(where(setting)),
        needs=needs_of(where),
        options={
            "inside": Option(
                "bruck", "an all_gather, backwards", one_of("all_gather", lambda: TREES)
            ),
            "across": Option("mst", "a reduce", one_of("reduce")),
        },
        vary=varied(of),
    )


ALGORITHM = of("bruck", "mst")
