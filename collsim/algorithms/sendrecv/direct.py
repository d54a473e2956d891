"""Every rank sends to the next and receives from the one before, as nccl-tests does."""

import numpy as np

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    every = np.arange(b.ranks)
    b.next_round()
    b.copy(every, (every + 1) % b.ranks, b.pieces)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(1, 1) if ranks > 1 else Terms(0, 0)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="α + nβ",
    summary="every rank sends to the next and receives from the one before",
    paper="one message; Hockney 1994",
)
