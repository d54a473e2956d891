"""Inside the node to the rail of the receiver, then along that rail to its node."""

import numpy as np

from collsim.algorithms._rails import even_nodes, grid
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps"]


def steps(b: Builder) -> None:
    """List the exchange: G - 1 messages inside the node, then N - 1 along the rail."""
    ranks = grid(b.setting)
    nodes, width = ranks.shape
    message = b.pieces.reshape(b.ranks, b.ranks)
    b.next_round()
    rail = np.arange(width)
    for step in range(1, width):
        to = (rail + step) % width
        # From (a, i) to (a, j) goes what (a, i) has for the ranks of rail j.
        carried = message[ranks[:, :, None], ranks.T[None, to, :]]
        b.copy(ranks.ravel(), ranks[:, to].ravel(), carried.reshape(b.ranks, nodes))
    b.next_round()
    node = np.arange(nodes)
    for step in range(1, nodes):
        to = (node + step) % nodes
        # From (a, j) to (b, j) goes what all ranks of node a have for (b, j).
        carried = message[ranks[:, None, :], ranks[to][:, :, None]]
        b.copy(ranks.ravel(), ranks[to].ravel(), carried.reshape(b.ranks, width))


ALGORITHM = Algorithm(
    build=steps,
    terms=no_terms,
    formula="on N nodes of G: (G-1)(α + nβ/G) + (N-1)(α + nβ/N), the second part across",
    summary="to the receiver's rail inside the node, then along it, in few large messages",
    paper="two-level exchange; NCCL's PXN does the first step over NVLink",
    needs=even_nodes,
)
