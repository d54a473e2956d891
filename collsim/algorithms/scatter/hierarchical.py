"""Inside the root's node to every rail, then along the rails by MST."""

import numpy as np

from collsim.algorithms._arrange import from_root, halvings
from collsim.algorithms._rails import even_nodes, grid
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps"]


def steps(b: Builder) -> None:
    """List the scatter: every rail of the root's node carries its own ranks' shares."""
    ranks = grid(b.setting)
    nodes, width = ranks.shape
    home, place = (int(at[0]) for at in np.nonzero(ranks == b.root))
    for rail in from_root(width, place)[1:]:
        b.next_round()
        b.copy(b.root, ranks[home, rail], b.pieces[ranks[:, rail]].ravel())
    order = from_root(nodes, home)
    for splits in halvings(nodes):
        b.next_round()
        for low, middle, high in splits:
            shares = b.pieces[ranks[order[middle:high]]].swapaxes(0, 1)
            b.copy(ranks[order[low]], ranks[order[middle]], shares.reshape(width, -1))


ALGORITHM = Algorithm(
    build=steps,
    terms=no_terms,
    formula="on N nodes of G: (G-1+⌈log N⌉)α + (P-1)/P·nβ, of which (N-1)/P·nβ across",
    summary="the root hands each rail of its node its shares, then MST scatter along the rails",
    paper="composition: the MST scatter of Chan et al. 2007, with a rail per rank of a node",
    needs=even_nodes,
)
