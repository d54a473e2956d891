"""From any rank count to a power of two, and back: the fold of MPICH's all_reduce."""

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from collsim.core.builder import Builder

__all__ = ["Step", "fold", "hands_in", "in_step", "unfold"]


class Step(TypedDict, total=False):
    """Further arguments of a message that waits for its turn."""

    turn: int
    strict: bool


def in_step(b: Builder) -> Step:
    """Return how to list messages between fold and unfold, so that nobody runs ahead.

    Ranks that have nobody to wait for would otherwise have the ports of slower ones
    promised to them, and make these slower still.
    """
    return {} if b.ranks & (b.ranks - 1) == 0 else {"turn": 0, "strict": True}


def hands_in(ranks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return who hands in to whom: of the first ranks, every even one to its neighbour."""
    extra = ranks - (1 << ranks.bit_length() - 1)
    given = np.arange(0, 2 * extra, 2)
    return given, given + 1


def fold(b: Builder) -> NDArray[np.int64]:
    """Add the arrays of some ranks to others', and return those that go on, a power of two.

    Messages take turns, here and in `unfold`: see :func:`in_step`.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> fold(Builder(collective("all_reduce"), 6)).tolist()
    [1, 3, 4, 5]
    """
    given, kept = hands_in(b.ranks)
    if given.size:
        b.next_round()
        b.reduce(given, kept, np.tile(b.pieces.ravel(), (given.size, 1)), turn=0, strict=True)
    return np.setdiff1d(np.arange(b.ranks), given)


def unfold(b: Builder) -> None:
    """Send the result to the ranks that had handed in."""
    given, kept = hands_in(b.ranks)
    if given.size:
        b.next_round()
        b.copy(kept, given, np.tile(b.pieces.ravel(), (given.size, 1)), turn=0, strict=True)
