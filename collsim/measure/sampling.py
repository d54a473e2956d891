"""How often something is timed: until its median is known well enough, within a budget.

A machine that others use has phases, longer than a few calls, in which everything takes longer.
Times of one phase agree with each other and say nothing of the next one. So a point is never
known before a part of its budget is spent, and what consecutive parts of its times differ by
counts as much as the scatter within them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.errors import InputError
from collsim.measure.transport import Transport

__all__ = ["How", "Sample", "sample", "summary"]

Values = NDArray[np.float64]

_LEAST = 5  # repetitions before a spread means anything
_MOST = 10_000
# Seconds over which times are spread at least, unless the budget is short: several turns of a
# scheduler that deals slices of milliseconds to a dozen programs.
_SPAN = 0.2
_SHARE = 0.2  # of a budget, the same where it is short
_BLOCKS = 8  # parts of the times, in their order, that are compared with each other


@dataclass(frozen=True)
class How:
    """How to time.

    Parameters
    ----------
    warmups : int
        Calls that are not timed, before.
    iterations : int, optional
        Exactly so many repetitions; None: until `target` or `budget` is reached.
    target : float
        Relative standard error of the median at which to stop, once `least` is spent.
    budget : float
        Seconds that one point may take, warm-ups not counted.

    Examples
    --------
    >>> How(target=0.01).budget
    1.0
    """

    warmups: int = 3
    iterations: int | None = None
    target: float = 0.02
    budget: float = 1.0

    @property
    def least(self) -> float:
        """Seconds over which times are spread before they are believed."""
        return min(_SPAN, _SHARE * self.budget)

    def __post_init__(self) -> None:
        if self.warmups < 0:
            raise InputError(f"warm-ups: got {self.warmups}, expected 0 or more")
        if self.iterations is not None and not 1 <= self.iterations <= 10**7:
            raise InputError(f"iterations: got {self.iterations}, expected 1 to 10000000")
        if not 0 < self.target < math.inf:
            raise InputError(f"target: got {self.target!r}, expected above 0, such as 0.02")
        if not 0 < self.budget < math.inf:
            raise InputError(f"budget: got {self.budget!r}, expected seconds above 0")


@dataclass(frozen=True)
class Sample:
    """Times of one thing.

    Parameters
    ----------
    median, low, high : float
        Median and quartiles, in seconds.
    repetitions : int
        How many times it was timed.
    relative_error : float
        Standard error of the median, divided by it.
    """

    median: float
    low: float
    high: float
    repetitions: int
    relative_error: float


def summary(times: Values) -> Sample:
    """Return the median of times and how well it is known.

    The spread is taken from the quartiles, because a machine that others use has outliers:
    sigma is (high - low) / 1.349, and the median of k normal times has the standard error
    1.2533 sigma / sqrt(k). That holds for times that do not depend on each other. Medians of b
    parts, in the order in which they were measured, have the same error, sigma of the parts /
    sqrt(b), where they don't, and a larger one where the machine had phases; the larger counts.

    Examples
    --------
    >>> found = summary(np.array([1.0, 2.0, 3.0, 4.0, 100.0]))
    >>> found.median, found.low, found.high, round(found.relative_error, 3)
    (3.0, 2.0, 4.0, 0.277)
    """
    low, median, high = (float(q) for q in np.quantile(times, (0.25, 0.5, 0.75)))
    error = 1.2533 * (high - low) / 1.349 / math.sqrt(times.size)
    parts = min(_BLOCKS, times.size // _LEAST)
    if parts > _BLOCKS // 2:
        medians = [np.median(part) for part in np.array_split(times, parts)]
        below, above = np.quantile(medians, (0.25, 0.75))
        error = max(error, float(above - below) / 1.349 / math.sqrt(parts))
    return Sample(median, low, high, times.size, error / median if median > 0 else 0.0)


def sample(
    transport: Transport,
    call: Callable[[], None],
    how: How,
    *,
    aligned: bool = True,
    scale: float = 1.0,
    takes_part: bool = True,
    alive: Callable[[], None] = lambda: None,
) -> Sample:
    """Time a call that all ranks make.

    Where all stamps are of one clock a repetition lasts from when the last rank entered
    until the last one is done; otherwise it is the longest that any rank saw. Every rank
    has the same stamps and so stops at the same repetition.

    Parameters
    ----------
    transport : Transport
        Who runs and times it.
    call : callable
        Runs it once.
    how : How
        When to stop.
    aligned : bool
        Whether a barrier goes before each; where the ranks keep each other in step
        (ping-pong) it would only add noise, and a rank's own duration counts.
    scale : float
        What to multiply times by: half for a round trip.
    takes_part : bool
        Whether this rank's times count.
    alive : callable
        Called whenever something came to an end, for the watchdog.
    """
    for _ in range(how.warmups):
        call()
        alive()
    transport.finish()
    times = np.empty(0)
    spent, batch = 0.0, how.iterations or _LEAST
    batch = min(batch, 1000)
    while True:
        stamps = transport.stamps(call, batch, aligned)
        alive()
        if not takes_part:
            stamps = np.full_like(stamps, np.nan)
        everyone = transport.exchange(stamps)
        alive()
        times = np.concatenate([times, _durations(everyone, transport, aligned) * scale])
        lasted = float(np.nansum(everyone[:, :, 1] - everyone[:, :, 0], axis=1).max())
        spent += lasted * transport.calls
        left = _left(times, spent, how)
        if left < 1:
            return summary(times)
        batch = min(left, 1000)


def _durations(everyone: Values, transport: Transport, aligned: bool) -> Values:
    start, end = everyone[:, :, 0], everyone[:, :, 1]
    if aligned and transport.one_clock:
        found: Values = np.nanmax(end, axis=0) - np.nanmax(start, axis=0)
        return found
    longest: Values = np.nanmax(end - start, axis=0)
    return longest


def _left(times: Values, spent: float, how: How) -> int:
    """Return how many more repetitions are worth it; 0 to stop."""
    if how.iterations is not None:
        return how.iterations - times.size
    if times.size >= _MOST or spent >= how.budget:
        return 0
    found = summary(times)
    known = found.relative_error <= how.target and times.size >= _LEAST
    if known and spent >= how.least:
        return 0
    if known:
        wanted = (how.least - spent) / (spent / times.size) if spent > 0 else _MOST
    else:
        wanted = times.size * ((found.relative_error / how.target) ** 2 - 1)
    affordable = (how.budget - spent) / (spent / times.size) if spent > 0 else _MOST
    # At most as many again as there are, because the spread may have been a bad guess.
    return max(1, int(min(wanted + 1, affordable, times.size, _MOST - times.size)))
