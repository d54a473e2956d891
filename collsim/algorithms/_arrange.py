"""Arithmetic that several algorithms share."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.builder import Builder
from collsim.core.schedule import COPY

__all__ = [
    "exchange",
    "from_root",
    "halvings",
    "log2_up",
    "one_part_per_rank",
]

# Messages that are listed at once: their numbers take some megabytes.
_AT_ONCE: Final = 1 << 20


def log2_up(ranks: int) -> int:
    """Return the base-2 logarithm, rounded up.

    Examples
    --------
    >>> [log2_up(p) for p in (1, 2, 3, 8, 9)]
    [0, 1, 2, 3, 4]
    """
    return (ranks - 1).bit_length()


def from_root(ranks: int, root: int) -> NDArray[np.int64]:
    """Return the ranks in the order root, root + 1, ..., around.

    Examples
    --------
    >>> from_root(4, 2).tolist()
    [2, 3, 0, 1]
    """
    return (np.arange(ranks) + root) % ranks


def halvings(ranks: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yield, round by round, how the range 0..ranks is halved until single ranks are left.

    Yields
    ------
    list of (low, middle, high)
        Ranges that are split in this round: ``low`` keeps ``low..middle`` (the larger
        half), and ``middle`` becomes responsible for ``middle..high``. Ranges of one
        rank drop out.

    Examples
    --------
    >>> list(halvings(3))
    [[(0, 2, 3)], [(0, 1, 2)]]
    """
    ranges = [(0, ranks)]
    while True:
        splits = [(low, (low + high + 1) // 2, high) for low, high in ranges if high - low > 1]
        if not splits:
            return
        yield splits
        ranges = [half for low, mid, high in splits for half in ((low, mid), (mid, high))]


def one_part_per_rank(ranks: int, chunks: int) -> int:
    """Cut the block into one part per rank."""
    return ranks


def exchange(
    b: Builder, target: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
) -> None:
    """List an all_to_all in which every rank sends one message in each of P - 1 rounds.

    Parameters
    ----------
    target : callable
        ``(ranks, round) -> ranks``: to whom they send in a round, counted from 1; arrays
        that are broadcast against each other.
    """
    every = b.every
    many = max(1, _AT_ONCE // every.size)
    for start in range(1, b.ranks, many):
        steps = np.arange(start, min(start + many, b.ranks))
        to = target(every, steps[:, None, None])
        b.block(COPY, every, to, every * b.ranks + to)
