"""Along the rails by MST, then inside the root's node: the hierarchical scatter backwards."""

import numpy as np

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
        rails = b.pieces[ranks.T]
        home, place = (int(at[0]) for at in np.nonzero(ranks == b.root))
        held = rails.reshape(len(rails), -1)
        near = part(b, "gather", inside, ranks=ranks[home], pieces=held, root=place)
        far = part(b, "gather", across, ranks=ranks.T, pieces=rails, root=home)
        play(b, then(far, near))

    def needs(setting: Setting) -> str | None:
        steps = (inside, inside_of(setting)), (across, rail_of(setting))
        return even_nodes(setting) or refused(("gather", *step) for step in steps)

    read = one_of("gather")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (⌈log N⌉+G-1)α + (P-1)/P·nβ, of which (N-1)/P·nβ across",
        summary="MST gather along each rail, then from the root's node to the root",
        paper="composition: the MST gather of Chan et al. 2007, with a rail per rank of a node",
        needs=needs,
        options={
            "inside": Option("linear", "a gather", read, mst_of_many),
            "across": Option("mst", "a gather", read),
        },
        vary=lambda values: of(str(values["inside"]), str(values["across"])),
    )


def mst_of_many(setting: Setting) -> tuple[str, ...]:
    """Return what takes fewer messages inside a node."""
    return ("mst",) if setting.fewest > 2 else ()


ALGORITHM = of("linear", "mst")
