"""Every rank sends every other its message, all at once."""

from typing import Final

import numpy as np

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]

# Messages that are listed in one call.
_AT_ONCE: Final = 2**16


def build(b: Builder) -> None:
    """List the operations: one round, in a rotation, so that receivers take turns."""
    every = np.arange(b.ranks, dtype=np.int32)
    message = b.pieces.reshape(b.ranks, b.ranks)
    b.next_round()
    many = max(1, _AT_ONCE // b.ranks)
    for start in range(1, b.ranks, many):
        step = np.arange(start, min(start + many, b.ranks), dtype=np.int32)[:, None]
        target = (every + step) % b.ranks
        source = np.broadcast_to(every, target.shape)
        pieces = message[source, target].reshape(-1, 1)
        b.copy(source.ravel(), target.ravel(), pieces)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ/P)",
    summary="every rank sends every other its message, all at once",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.4; NCCL's grouped send and receive",
)
