"""Along the rails first, where a share crosses every wire once, then inside every node."""

import numpy as np

from collsim.algorithms._rails import all_gather_in_groups, even_nodes, grid
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps"]


def steps(b: Builder) -> None:
    """List the all_gather: among the ranks of each rail, then among those of each node."""
    ranks = grid(b.setting)
    shares = b.pieces[ranks]
    all_gather_in_groups(b, ranks.T, shares.transpose(1, 0, 2))
    rails = shares.transpose(1, 0, 2).reshape(1, ranks.shape[1], -1)
    all_gather_in_groups(b, ranks, np.repeat(rails, len(ranks), axis=0))


ALGORITHM = Algorithm(
    build=steps,
    terms=no_terms,
    formula="on N nodes of G: (⌈log N⌉+⌈log G⌉)α + (P-1)/P·nβ, (N-1)/P·nβ of it across",
    summary="all_gather along each rail, then inside each node, both by Bruck's rounds",
    paper="Träff 2006, all-gather for clusters of SMPs; MVAPICH2 and NCCL with one NIC per GPU",
    needs=even_nodes,
)
