"""Rotating exchange: in round t, every rank sends to the one t places on."""

import numpy as np

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    every = np.arange(b.ranks)
    message = b.pieces.reshape(b.ranks, b.ranks)
    for step in range(1, b.ranks):
        b.next_round()
        target = (every + step) % b.ranks
        b.copy(every, target, message[every, target][:, None])


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ/P)",
    summary="in round t, every rank sends t places on and receives from t places back",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.4 (long messages)",
)
