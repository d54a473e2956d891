"""Lanes: what overlaps in time lies beside each other when it is drawn."""

import heapq

import numpy as np
from numpy.typing import NDArray

__all__ = ["lanes"]

Times = NDArray[np.integer] | NDArray[np.floating]


def lanes(begin: Times, end: Times) -> list[int]:
    """Return the lowest free lane of each of several spans of time.

    Parameters
    ----------
    begin, end : int array, shape (N,)
        Sorted by begin; what ends when another begins doesn't overlap it.

    Examples
    --------
    >>> lanes(np.array([0, 5, 10, 12]), np.array([10, 20, 11, 13]))
    [0, 1, 0, 0]
    """
    found: list[int] = []
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    count = 0
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        while busy and busy[0][0] <= first:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, count = count, count + 1
        found.append(lane)
        heapq.heappush(busy, (last, lane))
    return found
