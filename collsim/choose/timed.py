"""Times of several curves at one size: which are worth a run, and which is the fastest."""

import math

from collsim.choose.curve import Curve, Time, tie_of
from collsim.errors import TooLargeError

__all__ = ["fastest", "times_at"]


def times_at(
    found: list[Curve], size: float, left_out: dict[str, str], prune: bool
) -> list[tuple[Curve, Time]]:
    """Return the times at a size; of several curves, those that are too large drop out.

    Pruned are those that can't be the fastest in any number of chunks, and chunk counts that
    would hardly make one the fastest. Those of the least bound go first.
    """
    times: dict[str, tuple[Curve, Time]] = {}
    best = math.inf
    waiting: list[tuple[float, Curve]] = []
    bounded = prune and len(found) > 1
    tie = tie_of(found[0].cluster) if found else 0.0
    for curve in tuple(found):
        try:
            waiting.append((curve.floor(size) if bounded else 0.0, curve))
        except TooLargeError as error:
            _leave_out(curve, error, found, left_out)
    for floor, curve in sorted(waiting, key=lambda pair: (pair[0], pair[1].pipelined)):
        if floor > best * (1 + tie):
            continue
        try:
            time = curve.at(size, best * (1 + tie) if prune else math.inf)
        except TooLargeError as error:
            _leave_out(curve, error, found, left_out)
            continue
        times[curve.name] = curve, time
        best = min(best, time.seconds)
    return [times[curve.name] for curve in found if curve.name in times]


def _leave_out(
    curve: Curve, error: TooLargeError, found: list[Curve], left_out: dict[str, str]
) -> None:
    if len(found) == 1:
        raise error
    left_out[curve.name] = str(error)
    found.remove(curve)


def fastest(times: list[tuple[Curve, Time]]) -> tuple[Curve, Time]:
    """Return the fastest; of equals (but for rounding) the first."""
    least = min(time.seconds for _, time in times)
    tie = tie_of(times[0][0].cluster)
    return next(pair for pair in times if pair[1].seconds <= least * (1 + tie))
