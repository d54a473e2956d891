"""Routes of many pairs at once, as the router of a cluster returns them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Routes", "either", "from_columns", "whole_groups"]

IntArray = NDArray[np.int64]
# Pair i crosses link[ptr[i]:ptr[i + 1]], in order.
Routes = tuple[IntArray, IntArray]


def from_columns(columns: Sequence[IntArray], pairs: int) -> Routes:
    """Return routes from columns: the k-th holds the k-th link of every pair, -1 for none.

    Examples
    --------
    >>> ptr, link = from_columns([np.array([4, 5]), np.array([-1, 6])], 2)
    >>> ptr.tolist(), link.tolist()
    ([0, 1, 3], [4, 5, 6])
    """
    ptr = np.zeros(pairs + 1, dtype=np.int64)
    if not columns:
        return ptr, np.zeros(0, dtype=np.int64)
    table = np.stack(columns, axis=1).astype(np.int64, copy=False)
    # Column by column: along short rows sums are slow.
    counts = np.zeros(pairs, dtype=np.int64)
    for column in columns:
        counts += column >= 0
    np.cumsum(counts, out=ptr[1:])
    return ptr, table.ravel() if ptr[-1] == table.size else table[table >= 0]


def either(first: NDArray[np.bool_], one: Routes, two: Routes) -> Routes:
    """Return the routes of two kinds of pairs in one list.

    Parameters
    ----------
    first : bool array, shape (N,)
        Whether a pair is of the first kind.
    one, two : Routes
        Of the pairs of the first kind, and of the others, each in their order.

    Examples
    --------
    >>> a = (np.array([0, 1]), np.array([7]))
    >>> b = (np.array([0, 2]), np.array([8, 9]))
    >>> [part.tolist() for part in either(np.array([False, True]), a, b)]
    [[0, 2, 3], [8, 9, 7]]
    """
    counts = np.empty(first.size, dtype=np.int64)
    counts[first], counts[~first] = np.diff(one[0]), np.diff(two[0])
    ptr = np.zeros(first.size + 1, dtype=np.int64)
    np.cumsum(counts, out=ptr[1:])
    link = np.empty(ptr[-1], dtype=np.int64)
    here = np.repeat(first, counts)
    link[here], link[~here] = one[1], two[1]
    return ptr, link


def whole_groups(group: IntArray, to: IntArray) -> bool:
    """Return whether groups of ranks change places as a whole if rank r becomes ``to[r]``.

    Examples
    --------
    >>> two = np.array([0, 0, 1, 1])
    >>> whole_groups(two, np.array([2, 3, 0, 1])), whole_groups(two, np.array([1, 2, 3, 0]))
    (True, False)
    """
    becomes = np.full(int(group.max()) + 1, -1, dtype=np.int64)
    becomes[group] = group[to]
    if (becomes[group] != group[to]).any():
        return False
    found = becomes[becomes >= 0]
    return found.size == 0 or int(np.bincount(found).max()) == 1
