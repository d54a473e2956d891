"""Everybody sends its block to the switch, which multicasts it."""

import numpy as np

from collsim.algorithms._in_switch import one_switch, stream
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations: of every chunk 1/P goes up from each rank, and all comes down."""
    every, chunks = np.arange(b.ranks), b.pieces.T
    stream(b, every, every, chunks[:, :, None], chunks[:, None, :], adds=False)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: a bound for several chunks, at most (c-1)α more than it takes.

    What comes down takes longer than what goes up unless start-ups rule.
    """
    if ranks == 1:
        return Terms(0, 0)
    return Terms(chunks, 1 + 1 / (ranks * chunks), exact=chunks == 1)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ cα + (1 + 1/(Pc))nβ",
    summary="every block goes up to the switch once and comes down to all",
    paper="NCCL's NVLS; NVIDIA CUDA driver API: multicast objects",
    chunked=True,
    needs=one_switch,
    in_switch=True,
)
