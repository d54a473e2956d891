"""Rank 0 collects everybody's messages in turn, then hands each rank its own."""

import numpy as np

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    message = b.pieces.reshape(b.ranks, b.ranks)
    for rank in range(1, b.ranks):
        b.next_round()
        b.copy(rank, 0, np.delete(message[rank], rank))
    for rank in range(1, b.ranks):
        b.next_round()
        b.copy(0, rank, np.delete(message[:, rank], rank))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost.

    Rank 0 sends the last rank's messages, which don't wait for what that rank sends,
    while it still receives from that rank: one message fewer than 2(P-1).
    """
    rounds = 2 * ranks - 3 if ranks > 1 else 0
    return Terms(rounds, rounds * (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(2P-3)(α + (P-1)/P·nβ)",
    summary="rank 0 collects what everybody sends, in turn, then hands each rank its messages",
    paper="the naive loop: gather, then scatter, through one rank",
)
