"""Scatter inside the root's node, broadcast along the rails, all_gather inside every node."""

import numpy as np

from collsim.algorithms._arrange import from_root, halvings, one_part_per_rank
from collsim.algorithms._rails import all_gather_in_groups, even_nodes, grid
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps"]


def steps(b: Builder) -> None:
    """List the broadcast: every rail carries one of G equal shares.

    Each share goes straight to the rank of its rail: one that passed others' shares on
    would get them twice. Ranks take their messages in the order of the rounds, or the
    root's last ones, which are ready at once, would be promised the ports of the first.
    """
    ranks = grid(b.setting)
    nodes, width = ranks.shape
    shares = b.pieces.reshape(width, nodes)
    home, place = (int(at[0]) for at in np.nonzero(ranks == b.root))
    for rail in from_root(width, place)[1:]:
        b.next_round()
        b.copy(b.root, ranks[home, rail], shares[rail], turn=0)
    order = from_root(nodes, home)
    for splits in halvings(nodes):
        b.next_round()
        for low, middle, _ in splits:
            b.copy(ranks[order[low]], ranks[order[middle]], shares, turn=0)
    every = np.repeat(shares[None], nodes, axis=0)
    all_gather_in_groups(b, ranks, every, complete=b.root, turn=0)


ALGORITHM = Algorithm(
    build=steps,
    terms=no_terms,
    formula="on N nodes of G: (G-1+⌈log N⌉+⌈log G⌉)α + 2(G-1)/G·nβ + ⌈log N⌉nβ/G, that across",
    summary="scatter in the root's node, MST along each rail, all_gather inside every node",
    paper="composition: the broadcast of Barnett et al. 1994, with a rail per rank of a node",
    parts=one_part_per_rank,
    needs=even_nodes,
)
