"""Double what is known, and halve what is summed: with partners of any pattern."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import log2_up
from collsim.algorithms._fold import Step
from collsim.algorithms.compose import in_turns, part, play, reverse, then
from collsim.core.builder import Builder

__all__ = ["double", "halve_and_double"]

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


def double(
    b: Builder,
    core: IntArray,
    known: NDArray[np.bool_],
    partners: Iterable[IntArray],
    how: Step | None = None,
) -> None:
    """List rounds in which partners exchange what the other lacks.

    Parameters
    ----------
    core : int array, shape (Q,)
        The ranks that take part.
    known : bool array, shape (Q, blocks)
        Which blocks each of them has at first.
    partners : iterable of int array, shape (Q,)
        With whom each exchanges in a round, as its place in `core`.
    how : Step, optional
        Further arguments of each message.
    """
    for other in partners:
        b.next_round()
        sent = known & ~known[other]
        counts = sent.sum(axis=1)
        for count in np.unique(counts[counts > 0]):
            at = np.flatnonzero(counts == count)
            blocks = np.nonzero(sent[at])[1].reshape(at.size, count)
            pieces = b.pieces[blocks].reshape(at.size, -1)
            b.copy(core[at], core[other[at]], pieces, **(how or Step()))
        known = known | known[other]


def _doubling(partner: Callable[[int], IntArray]) -> Callable[[Builder], None]:
    """Return how to list an all_gather among all ranks; the last step comes first."""

    def build(b: Builder) -> None:
        partners = map(partner, reversed(range(log2_up(b.ranks))))
        double(b, np.arange(b.ranks), np.eye(b.ranks, dtype=bool), partners)

    return build
