"""Into how many chunks and channels an algorithm is cut, where it is free to choose."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from collsim.core.algorithm import Algorithm
from collsim.core.setting import Setting
from collsim.errors import TooLargeError

__all__ = [
    "BETTER",
    "ENOUGH",
    "best_chunks",
    "candidates",
    "channels_of",
    "fastest_channels",
    "more_chunks",
]

# Chunk counts that are tried by formula, and by simulation, where each one costs time.
_BY_FORMULA: Final = tuple(2**k for k in range(17))
_BY_EVENT: Final = tuple(2**k for k in range(11))
# Rank count times chunks up to which a schedule is simulated just to see whether it is
# faster: about two million messages, or a second.
_TRIED: Final = 2**20
# Times that differ by less, relative, are equal.
_EQUAL: Final = 1e-11
# More chunks are worth a try of still more if they gain so much, relative.
BETTER: Final = 1e-9
# After so many counts in a row that were no better, more are not tried.
ENOUGH: Final = 2
# In one chunk nothing overlaps, so what two gain over it says little; nor do four yet.
_TELLING: Final = 4
_ALLOWED: Final = 2.0
# Twice the chunks halve what r / c gains; where the gain is as large as before, twice that.
_ON: Final = 2.0


def candidates(by_formula: bool, ranks: int = 1) -> tuple[int, ...]:
    """Return the chunk counts among which the best is taken: powers of two.

    By simulation no more of them than make a schedule of about two million messages.

    Examples
    --------
    >>> candidates(by_formula=True)[-1], candidates(by_formula=False)[-1]
    (65536, 1024)
    >>> candidates(by_formula=False, ranks=2**18)
    (1, 2, 4)
    """
    if by_formula:
        return _BY_FORMULA
    return tuple(c for c in _BY_EVENT if c == 1 or c * ranks <= _TRIED)


def best_chunks(
    nbytes: float,
    seconds: Callable[[int], float],
    by_formula: bool,
    ranks: int = 1,
    asked: Sequence[int] | None = None,
    at_most: float = math.inf,
    floor: Callable[[int], float] | None = None,
) -> int:
    """Return the power of two that is fastest at a size; the smallest of equals.

    Whoever predicts, checks or fits with free chunks goes by this rule, so that their
    answers agree. A chunk is a byte at least. By simulation the search stops once two
    counts in a row were no better.

    Parameters
    ----------
    nbytes : float
        Size of the buffer, n, in bytes.
    seconds : callable
        ``chunks -> float``: the time at this size.
    by_formula : bool
        Whether that is a formula, so that many counts may be tried.
    ranks : int
        Rank count, which limits the counts that are tried by simulation.
    asked : sequence of int, optional
        The counts to try, in rising order, instead of powers of two; all are tried, and
        the first may be more than there are bytes.
    at_most : float
        A time in seconds; if all are slower, any of them will do.
    floor : callable, optional
        ``chunks -> float``: a time in seconds below which so many chunks and more are not;
        what it excludes is not run.

    Examples
    --------
    >>> best_chunks(1000, lambda c: c + 64 / c, by_formula=True)
    8
    """
    if asked is not None:
        return min((c for c in asked if c <= nbytes or c == asked[0]), key=seconds)
    possible = [c for c in candidates(by_formula, ranks) if c <= max(1.0, nbytes)]
    if by_formula:
        return min(possible, key=seconds)
    return _climb(possible, seconds, at_most, floor)


def _climb(
    possible: Sequence[int],
    seconds: Callable[[int], float],
    at_most: float = math.inf,
    floor: Callable[[int], float] | None = None,
) -> int:
    best, least, worse = 1, math.inf, 0
    tried: list[tuple[int, float]] = []
    for chunks in possible:
        if not worse and more_chunks(tried) > at_most:
            break
        if floor is not None and tried and floor(chunks) > min(least, at_most):
            break
        found = seconds(chunks)
        tried.append((chunks, found))
        if found < least * (1 - _EQUAL):
            best, least, worse = chunks, found, 0
        else:
            worse += 1
            if worse == ENOUGH:
                break
    return best


def more_chunks(tried: Sequence[tuple[int, float]]) -> float:
    """Return a time in seconds that more chunks are hardly below.

    A pipeline takes p + q c + r / c in c chunks: its start-ups, so many more with each
    chunk, and the filling of the pipeline, the shorter the smaller the chunks. Of the gain
    from c to d chunks, c / (d - c) is left for all that are more; as much again is
    allowed for, and more where the last gain was larger than r / c makes it: gains are then
    taken to go on by that ratio, and one that does not shrink tells nothing. Fewer than
    four counts do not tell either. Once two in a row were no better, none is expected to be.

    Parameters
    ----------
    tried : sequence of (int, float)
        Chunk counts in rising order, and their times at one size.

    Examples
    --------
    10 + 16 / c never gets below 10, and counts of up to 8 tell that it is not below 8:

    >>> more_chunks([(1, 26.0), (2, 18.0), (4, 14.0), (8, 12.0)])
    8.0
    """
    least, worse = math.inf, 0
    for i, (_, seconds) in enumerate(tried):
        worse = 0 if seconds < least * (1 - BETTER) else worse + 1
        least = min(least, seconds)
        if worse >= ENOUGH and i + 1 >= _TELLING:
            return least
    told = tried[: len(tried) - worse]
    if len(told) < _TELLING:
        return 0.0
    (some, slowest), (few, slow), (many, fast) = told[-3:]
    before = (slowest - slow) * some * few / (few - some)
    filling = (slow - fast) * few * many / (many - few)
    growth = filling / before if before > 0 else math.inf
    if growth >= _ON:
        return 0.0
    allowed = _ALLOWED * max(1.0, growth / (_ON - growth))
    return max(0.0, min(least, fast - allowed * filling / many))


def channels_of(algorithm: Algorithm, setting: Setting) -> tuple[int, ...]:
    """Return the channel counts among which the best is taken.

    On several nodes one, and as many as every node has GPUs, so that each has its own way
    out of the node. On one node a single channel uses all that there is, unless GPUs are
    joined directly: then as many as there are rings over cables of their own.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from collsim.algorithms import find
    >>> mst, two_nodes = find("all_reduce", "mst"), Setting(4, [0, 0, 1, 1])
    >>> channels_of(mst, two_nodes), channels_of(replace(mst, channeled=True), two_nodes)
    ((1,), (1, 2))
    """
    if not algorithm.channeled:
        return (1,)
    if setting.nodes == 1:
        own = setting.orders if algorithm.rings else None
        return (1,) if own is None or len(own) == 1 else (1, len(own))
    return (1,) if setting.fewest == 1 else (1, setting.fewest)


def fastest_channels(
    possible: Sequence[int], seconds: Callable[[int], float]
) -> tuple[int, float]:
    """Return the fastest of some channel counts and its time; the first of equals.

    A count that makes a schedule too large to be simulated is left out, but for the first.

    Examples
    --------
    >>> fastest_channels((1, 8), lambda channels: 16 / channels)
    (8, 2.0)
    """
    best, least = possible[0], seconds(possible[0])
    for channels in possible[1:]:
        try:
            found = seconds(channels)
        except TooLargeError:
            continue
        if found < least * (1 - _EQUAL):
            best, least = channels, found
    return best, least
