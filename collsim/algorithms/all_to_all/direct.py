"""Every rank sends every other its message, all at once."""

import numpy as np

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: one round, in a rotation, so that receivers take turns."""
    every = np.arange(b.ranks)
    message = b.pieces.reshape(b.ranks, b.ranks)
    b.next_round()
    for step in range(1, b.ranks):
        target = (every + step) % b.ranks
        b.copy(every, target, message[every, target][:, None])


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ/P)",
    summary="every rank sends every other its message, all at once",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.4; NCCL's grouped send and receive",
)
