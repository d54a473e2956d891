"""Double what is known, and halve what is summed: with partners of any pattern."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import log2_up
from collsim.algorithms.compose import in_turns, part, play, reverse, then
from collsim.core.builder import Builder

__all__ = ["halve_and_double"]

IntArray = NDArray[np.int64]


def halve_and_double(
    b: Builder,
    core: IntArray,
    parts: IntArray,
    partner: Callable[[int], IntArray],
    turns: bool = False,
) -> None:
    """List an all_gather by doubling, after the same backwards: a reduce_scatter by halving.

    Parameters
    ----------
    core : int array, shape (Q,)
        The ranks that take part.
    parts : int array, shape (Q, m)
        Pieces of which each member of `core` is to hold the sum in between.
    partner : callable
        ``step -> int array, shape (Q,)``: with whom each member exchanges in a step, as its
        place in `core`; a step pairs them off. The all_gather begins with the last one.
    turns : bool
        Whether nobody may run ahead, as ranks have handed in before.
    """
    gather = part(b, "all_gather", _doubling(partner), ranks=core, pieces=parts)
    both = then(reverse(gather, adds=True), gather)
    play(b, in_turns(both, strict=True) if turns else both)


def _doubling(partner: Callable[[int], IntArray]) -> Callable[[Builder], None]:
    """Return how to list an all_gather in which partners exchange what the other lacks."""

    def build(b: Builder) -> None:
        known = np.eye(b.ranks, dtype=bool)
        for step in reversed(range(log2_up(b.ranks))):
            b.next_round()
            other = partner(step)
            sent = known & ~known[other]
            counts = sent.sum(axis=1)
            for count in np.unique(counts[counts > 0]):
                src = np.flatnonzero(counts == count)
                blocks = np.nonzero(sent[src])[1].reshape(src.size, count)
                b.copy(src, other[src], b.pieces[blocks].reshape(src.size, -1))
            known |= known[other]

    return build
