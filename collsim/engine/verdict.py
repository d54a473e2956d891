"""Whether one schedule is right: data, order, and real numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.schedule import Schedule
from collsim.engine.execute import execute, input_counts
from collsim.engine.happens_before import check_order
from collsim.engine.reference import reference
from collsim.engine.replay import finish_order, replay
from collsim.engine.simulate import simulate
from collsim.engine.trials import even, uneven

__all__ = ["Verdict", "verify_schedule"]

# Of real numbers: the operation, and how many elements from how many ranks. Neither
# count divides evenly from three ranks up, and the second leaves shares empty.
_EXECUTED: Final[tuple[tuple[str, Callable[[int], int]], ...]] = (
    ("sum", lambda ranks: 2 * ranks + 3),
    ("max", lambda ranks: ranks // 2 + 1),
)


@dataclass(frozen=True)
class Verdict:
    """Whether a schedule is right, and if not, why.

    Parameters
    ----------
    ok : bool
        Whether all checks passed.
    reason : str
        The first thing that is wrong; empty if nothing is.
    """

    ok: bool
    reason: str = ""


@checked
def verify_schedule(schedule: Schedule) -> Verdict:
    """Verify one schedule, from whatever source.

    Parameters
    ----------
    schedule : Schedule
        What to verify.

    Returns
    -------
    Verdict
        With the first reason against it.

    Notes
    -----
    Four checks, cheapest first. The first shows that all orders that a machine may take
    give one result, so one of them would do for the others; they run in two all the
    same, so that an error in one check does not hide an error in a schedule:

    1. the rules of order, :func:`~collsim.engine.happens_before.check_order`;
    2. a replay in the order in which operations finish on an ideal one-port network,
       :func:`~collsim.engine.replay.replay`;
    3. the same on a network on which every pair of ranks has its own speed, latencies
       overlap and reductions take time;
    4. real numbers, cut into uneven whole-element shares, against plain numpy.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> verify_schedule(build("all_reduce", "ring", 4)).ok
    True
    """
    reason = check_order(schedule)
    if reason is not None:
        return Verdict(False, reason)
    order = None
    for cluster, nbytes in ((even(schedule), 1e6), (uneven(schedule), 12_345.6)):
        order = finish_order(simulate(schedule, cluster, nbytes))
        reason = replay(schedule, order)
        if reason is not None:
            return Verdict(False, reason)
    for op, count in _EXECUTED:
        reason = _execution(schedule, op, count(schedule.ranks), order)
        if reason is not None:
            return Verdict(False, reason)
    return Verdict(True)


def _execution(
    schedule: Schedule, op: str, count: int, order: NDArray[np.int64] | None
) -> str | None:
    """Return where real numbers come out wrong, or None. Whole numbers: sums are exact."""
    kind, root = schedule.collective, schedule.root
    draw = np.random.default_rng(count)
    counts = input_counts(kind, schedule.ranks, count, root)
    inputs = [draw.integers(-1000, 1000, size) for size in counts]
    got = execute(schedule, inputs, op, order)
    expected = reference(kind, inputs, op, root)
    for rank, (have, want) in enumerate(zip(got, expected, strict=True)):
        same = have is None if want is None else have is not None and np.array_equal(have, want)
        if not same:
            return f"{op} of {count} elements: rank {rank} gets {have}, expected {want}"
    return None
