"""Lanes: messages that overlap at one port lie beside each other, on threads of their own."""

import heapq

from collsim.interop.chrome_trace._event import Ticks

__all__ = ["lanes"]


def lanes(begin: Ticks, end: Ticks) -> list[int]:
    """Return the lowest free lane of each slice, by when they begin.

    Parameters
    ----------
    begin, end : int array, shape (N,)
        Nanoseconds; sorted by begin.

    Examples
    --------
    >>> import numpy as np
    >>> lanes(np.array([0, 5, 10, 12]), np.array([10, 20, 11, 13]))
    [0, 1, 0, 0]
    """
    found: list[int] = []
    free: list[int] = []
    busy: list[tuple[int, int]] = []
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
