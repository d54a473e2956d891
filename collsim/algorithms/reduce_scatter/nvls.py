"""The switch adds up every block for the rank that it is meant for."""

import numpy as np

from collsim.algorithms._in_switch import one_switch, stream
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations: of every chunk all goes up from each rank, and 1/P comes down."""
    every, chunks = np.arange(b.ranks), b.pieces.T
    stream(b, every, every, chunks[:, None, :], chunks[:, :, None], adds=True)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: up go all chunks, and the last sum comes down after them."""
    if ranks == 1:
        return Terms(0, 0)
    return Terms(chunks, 1 + 1 / (ranks * chunks))


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="cα + (1 + 1/(Pc))nβ",
    summary="all send everything up to the switch, which sends each rank the sum of its block",
    paper="Klenk et al. 2020, An in-network architecture (ISCA); NCCL's NVLS",
    chunked=True,
    needs=one_switch,
    in_switch=True,
)
