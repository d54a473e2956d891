"""Swing: halving and doubling with partners that swing to and fro, and stay near."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import log2_up, one_part_per_rank
from collsim.algorithms._halving import halve_and_double
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def partner(ranks: int, step: int) -> NDArray[np.int64]:
    """Return each rank's partner: even ranks go 1, -1, 3, -5, 11, ... ranks, odd ones back.

    Examples
    --------
    >>> [partner(16, step)[0].item() for step in range(4)]
    [1, 15, 3, 11]
    """
    every = np.arange(ranks)
    far = (1 - (-2) ** (step + 1)) // 3
    moved: NDArray[np.int64] = every + far * (1 - 2 * (every % 2))
    return moved % ranks


def build(b: Builder) -> None:
    """List the operations.

    On a power of two the steps meet every rank once. On another even number some ranks
    would be met twice; what a partner has already is not sent again.
    """
    parts = b.pieces.reshape(b.ranks, 1)
    halve_and_double(b, np.arange(b.ranks), parts, lambda step: partner(b.ranks, step))


def limits(ranks: int) -> str | None:
    """Return why it can't run on so many ranks."""
    if ranks % 2 == 0 or ranks == 1:
        return None
    return (
        f"its steps pair even ranks with odd ones, so it takes an even number, not {ranks} "
        "ranks; halving_doubling takes any number"
    )


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost.

    With gamma it is exact but for 3·2^k ranks: there two steps send equally much, and one
    need not wait for what the other brought.
    """
    share = (ranks - 1) / ranks
    waits = ranks != 3 * (ranks & -ranks)
    return Terms(2 * log2_up(ranks), 2 * share, share, exact_with_gamma=waits)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2⌈log P⌉α + (P-1)/P·n(2β + γ)",
    summary="halving and doubling with partners that alternate sides, near ones first",
    paper="De Sensi, Bonato, Saam, Hoefler 2024, Swing (NSDI), bandwidth-optimal version",
    parts=one_part_per_rank,
    limits=limits,
)
