"""The root sends its data to the switch, which sends them to all."""

import numpy as np

from collsim.algorithms._in_switch import one_switch, stream
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations: a chunk goes up while the one before comes down.

    It comes down at the root, too, as multicast memory has a place on every GPU.
    """
    chunks = b.pieces.T[:, None, :]
    stream(b, b.root, np.arange(b.ranks), chunks, chunks, adds=False)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: up go all chunks, and the last comes down after them."""
    if ranks == 1:
        return Terms(0, 0)
    return Terms(chunks, 1 + 1 / chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="cα + (c+1)/c·nβ",
    summary="the root sends chunk by chunk to the switch, which multicasts to all",
    paper="NVIDIA CUDA driver API: multicast objects; NVSHMEM's multimem broadcast",
    chunked=True,
    needs=one_switch,
    in_switch=True,
)
