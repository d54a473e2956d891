"""What compositions are given: ranks and pieces, checked before anything is listed."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.builder import Builder
from collsim.errors import InputError

__all__ = ["checked_groups", "checked_pieces", "numbers"]

IntArray = NDArray[np.int64]


def numbers(name: str, values: ArrayLike, below: int, what: str) -> IntArray:
    """Return whole numbers from 0 up and below a limit, as an array.

    Examples
    --------
    >>> numbers("part: ranks", [3, 1], 4, "ranks").tolist()
    [3, 1]
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name}: rows of unequal length, expected an array") from None
    if not array.size:
        raise InputError(f"{name}: got none, expected at least one")
    if array.dtype.kind not in "iu":
        raise InputError(f"{name}: got {_short(values)}, expected whole numbers")
    wrong = array[(array < 0) | (array >= below)]
    if wrong.size:
        raise InputError(f"{name}: got {wrong[0]}, expected {what} from 0 to {below - 1}")
    return array.astype(np.int64, copy=False)


def checked_groups(b: Builder, ranks: ArrayLike | None) -> IntArray:
    """Return the ranks of every group, shape (M, K), each rank at most once."""
    if ranks is None:
        return np.arange(b.ranks)[None]
    groups = np.atleast_2d(numbers("part: ranks", ranks, b.ranks, "ranks"))
    if groups.ndim > 2:
        raise InputError(
            f"part: ranks has {groups.ndim} dimensions, expected (ranks,) or (groups, ranks)"
        )
    found, counts = np.unique(groups, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"part: rank {found[counts > 1][0]} is there twice, expected once")
    return groups


def checked_pieces(b: Builder, pieces: ArrayLike, groups: int) -> IntArray:
    """Return the pieces of every group and block, shape (M, blocks, x)."""
    given = numbers("part: pieces", pieces, b.pieces.size, "pieces")
    if given.ndim not in (2, 3):
        raise InputError(
            f"part: pieces has shape {given.shape}, expected (blocks, x) or (groups, blocks, x)"
        )
    if given.ndim == 3 and len(given) not in (1, groups):
        raise InputError(f"part: pieces of {len(given)} groups, but ranks of {groups}")
    each = np.sort(given.reshape(-1, given.shape[-2] * given.shape[-1]), axis=1)
    twice = each[:, 1:][each[:, 1:] == each[:, :-1]]
    if twice.size:
        raise InputError(f"part: piece {twice[0]} is there twice in a group, expected once")
    return np.broadcast_to(given, (groups, *given.shape[-2:]))


def _short(values: object) -> str:
    text = " ".join(repr(values).split())
    return text if len(text) <= 60 else text[:57] + "..."
