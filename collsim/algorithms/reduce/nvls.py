"""Everybody sends its array to the switch, which sends the sum to the root."""

import numpy as np

from collsim.algorithms._in_switch import one_switch, stream
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations: a chunk goes up while the sum of the one before comes down.

    The switch reads the root's array as it does all others.
    """
    chunks = b.pieces.T[:, None, :]
    stream(b, np.arange(b.ranks), b.root, chunks, chunks, adds=True)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: up go all chunks, and the last sum comes down after them."""
    if ranks == 1:
        return Terms(0, 0)
    return Terms(chunks, 1 + 1 / chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="cα + (c+1)/c·nβ",
    summary="all send chunk by chunk to the switch, which sends the sum to the root",
    paper="Klenk et al. 2020, An in-network architecture (ISCA); NVLink SHARP's load-reduce",
    chunked=True,
    needs=one_switch,
    in_switch=True,
)
