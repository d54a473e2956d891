"""Halve what is summed, double what is known: with partners of any pattern."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.core.builder import Builder

__all__ = ["halve_and_double"]

IntArray = NDArray[np.int64]


def halve_and_double(
    b: Builder,
    core: IntArray,
    parts: IntArray,
    partner: Callable[[int], IntArray],
    how: Mapping[str, Any] | None = None,
) -> None:
    """List a reduce_scatter by halving, then an all_gather by doubling.

    Parameters
    ----------
    core : int array, shape (Q,)
        The ranks that take part, a power of two.
    parts : int array, shape (Q, m)
        Pieces of which each member of `core` is to hold the sum in between.
    partner : callable
        ``step -> int array, shape (Q,)``: with whom each member exchanges in a step, as its
        place in `core`; a step pairs them off.
    how : mapping, optional
        Further arguments of each message.
    """
    how = how or {}
    steps = core.size.bit_length() - 1
    partners = [partner(step) for step in range(steps)]
    # What each member can still reach by the steps to come, itself first: its own share.
    reach = [np.arange(core.size)[:, None]]
    for other in reversed(partners):
        reach.insert(0, np.concatenate([reach[0], reach[0][other]], axis=1))
    for step, other in enumerate(partners):
        b.next_round()
        b.reduce(core, core[other], _flat(parts[reach[step + 1][other]]), **how)
    for step in reversed(range(steps)):
        b.next_round()
        b.copy(core, core[partners[step]], _flat(parts[reach[step + 1]]), **how)


def _flat(pieces: IntArray) -> IntArray:
    return pieces.reshape(len(pieces), -1)
