"""Along the rails by MST, then inside the root's node: the hierarchical scatter backwards."""

import numpy as np

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
        rails = b.pieces[ranks.T]
        home, place = (int(at[0]) for at in np.nonzero(ranks == b.root))
        held = rails.reshape(len(rails), -1)
        near = part(b, "gather", inside, ranks=ranks[home], pieces=held, root=place)
        far = part(b, "gather", across, ranks=ranks.T, pieces=rails, root=home)
        play(b, then(far, near))

    read = one_of("gather")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (⌈log N⌉+G-1)α + (P-1)/P·nβ, of which (N-1)/P·nβ across",
        summary="MST gather along each rail, then from the root's node to the root",
        paper="composition: the MST gather of Chan et al. 2007, with a rail per rank of a node",
        needs=needs_of(both("gather", inside, across)),
        options={
            "inside": Option("linear", "a gather", read, mst_of_many),
            "across": Option("mst", "a gather", read),
        },
        vary=varied(of),
    )


ALGORITHM = of("linear", "mst")
