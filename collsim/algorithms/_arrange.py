"""Arithmetic that several algorithms share."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["from_root", "halvings", "log2_up", "one_part_per_rank", "parts_are_chunks"]


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


def parts_are_chunks(ranks: int, chunks: int) -> int:
    """Cut every block into as many parts as the user wants chunks."""
    return chunks
