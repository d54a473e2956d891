"""Sums, greatest and numbers of rows of unequal length, as routes are."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["TABLE_UP_TO", "greatest", "joined", "packed", "sums"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# A table over all numbers beats sorting while it is not much larger than what
# would be sorted.
TABLE_UP_TO: Final = 4096


def sums(values: FloatArray, ptr: IntArray) -> FloatArray:
    """Return the sum of every row, in the order of its entries.

    Examples
    --------
    >>> sums(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3])).tolist()
    [3.0, 0.0, 4.0]
    """
    row = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    found = np.bincount(row, weights=values, minlength=ptr.size - 1)
    return found.astype(np.float64, copy=False)


def joined(
    holders: list[tuple[IntArray, IntArray, FloatArray]],
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the columns of all holders, one after the other."""
    owner, held, beta = (np.concatenate([column[i] for column in holders]) for i in range(3))
    return owner, held, beta


def greatest(values: FloatArray, ptr: IntArray) -> FloatArray:
    """Return the greatest of every row, and 0 of an empty one.

    Examples
    --------
    >>> greatest(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3])).tolist()
    [2.0, 0.0, 4.0]
    """
    found, some = np.zeros(ptr.size - 1), np.flatnonzero(np.diff(ptr))
    if some.size:
        found[some] = np.maximum.reduceat(values, ptr[some])
    return found


def packed(numbers: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """Return the distinct numbers in rising order, and which of them each one is.

    Parameters
    ----------
    numbers : int array
        From 0 up.
    limit : int
        Below which all of them are.

    Examples
    --------
    >>> [found.tolist() for found in packed(np.array([7, 3, 7]), 8)]
    [[3, 7], [1, 0, 1]]
    """
    if limit > max(TABLE_UP_TO, 8 * numbers.size):
        used, which = np.unique(numbers, return_inverse=True)
        return used, which.astype(np.int64)
    table = np.zeros(limit, dtype=np.int64)
    table[numbers] = 1
    used = np.flatnonzero(table)
    table[used] = np.arange(used.size)
    return used, table[numbers]
