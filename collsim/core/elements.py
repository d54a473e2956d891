"""Whole elements: how buffers and blocks are cut where real numbers are moved."""

import numpy as np

from collsim.core.collective import Collective

__all__ = ["block_counts", "input_counts", "split"]


def split(count: int, parts: int) -> list[int]:
    """Return whole-element shares of `count` elements, the larger ones first.

    Examples
    --------
    >>> split(10, 4)
    [3, 3, 2, 2]
    """
    share, more = divmod(count, parts)
    return [share + (part < more) for part in range(parts)]


def input_counts(collective: Collective, ranks: int, count: int, root: int = 0) -> list[int]:
    """Return how many elements each rank brings to a collective on a buffer of `count`.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> input_counts(collective("all_gather"), 4, 10)
    [3, 3, 2, 2]
    >>> input_counts(collective("scatter"), 4, 10, root=2)
    [0, 0, 10, 0]
    """
    rank, _ = collective.before(ranks, root)
    if collective.name in ("gather", "all_gather"):
        return split(count, ranks)
    return [count if holds else 0 for holds in np.bincount(rank, minlength=ranks)]


def block_counts(collective: Collective, ranks: int, count: int, root: int = 0) -> list[int]:
    """Return how many elements every block has, in a collective on a buffer of `count`.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> block_counts(collective("all_to_all"), 2, 5)
    [3, 2, 3, 2]
    """
    rank, block = collective.before(ranks, root)
    counts = [0] * collective.blocks(ranks)
    for r, mine in enumerate(input_counts(collective, ranks, count, root)):
        held = np.sort(block[rank == r]).tolist()
        for b, share in zip(held, split(mine, len(held)) if held else [], strict=True):
            counts[b] = share
    return counts
