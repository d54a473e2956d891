"""Everybody sends its array to everybody, and adds up for itself."""

import numpy as np

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations.

    Every array lands in a place of its own: the sum may not change what is still to be sent.
    Adding up is paid for on arrival; what is local costs nothing.
    """
    every, size = np.arange(b.ranks), b.pieces.size
    whole = np.tile(b.pieces.ravel(), (b.ranks, 1))
    landed = [np.tile(b.scratch(size), (b.ranks, 1)) for _ in range(b.ranks - 1)]
    b.next_round()
    for step, into in enumerate(landed, start=1):
        b.reduce(every, (every + step) % b.ranks, whole, into)
    b.next_round()
    for into in landed:
        b.reduce(every, every, into, whole)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: through one port, the messages take turns."""
    return Terms(ranks - 1, ranks - 1, ranks - 1, exact_with_gamma=ranks <= 2)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ) + (P-1)nγ",
    summary="every rank sends its whole array to all others, which add up for themselves",
    paper="NVIDIA TensorRT-LLM and vLLM: custom all_reduce, one-shot",
)
