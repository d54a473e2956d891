"""Inside the root's node to every rail, then along the rails by MST."""

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
        near = part(b, "scatter", inside, ranks=ranks[home], pieces=held, root=place)
        far = part(b, "scatter", across, ranks=ranks.T, pieces=rails, root=home)
        play(b, then(near, far))

    read = one_of("scatter")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (G-1+⌈log N⌉)α + (P-1)/P·nβ, of which (N-1)/P·nβ across",
        summary="the root hands each rail of its node its shares; MST scatter along rails",
        paper="composition: MST scatter of Chan et al. 2007, with a rail per rank of a node",
        needs=needs_of(both("scatter", inside, across)),
        options={
            "inside": Option("linear", "a scatter", read, mst_of_many),
            "across": Option("mst", "a scatter", read),
        },
        vary=varied(of),
    )


ALGORITHM = of("linear", "mst")
