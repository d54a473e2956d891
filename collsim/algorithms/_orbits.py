"""Groups of ranks under renaming: which of them stand for all, and how each goes around."""

import numpy as np
from numpy.typing import NDArray

from collsim.core.symmetry import Fold
from collsim.errors import InputError

__all__ = ["orbits"]

IntArray = NDArray[np.int64]


def orbits(fold: Fold, groups: IntArray) -> tuple[IntArray, Fold | None]:
    """Return which groups stand for all, and the renamings of places within each of them.

    Either renaming takes every group to itself, place k to a later one: then all groups stay,
    and a few places of each stand for all. Or it takes groups to others: then some groups
    stand for all, with all their places.

    Parameters
    ----------
    fold : Fold
        Renamings of ranks.
    groups : int array, shape (M, K)
        Ranks of every group.

    Raises
    ------
    InputError
        If renaming does neither.

    Examples
    --------
    Two nodes of two ranks: one stands for both, but both rails stay, and go around.

    >>> ranks = np.array([[0, 1], [2, 3]])
    >>> orbits(Fold("shift", 4, 2), ranks)
    (array([0]), None)
    >>> orbits(Fold("shift", 4, 2), ranks.T)[1]
    Fold(kind='shift', ranks=2, step=1)
    """
    inside = _inside(fold, groups)
    if inside is not None:
        return np.arange(len(groups)), inside
    first = groups // fold.step
    standing = np.flatnonzero((first == 0).all(axis=1))
    back = fold.moved(groups, fold.back(first[:, :1]))
    place = np.full(fold.ranks, -1)
    place[groups[standing, 0]] = standing
    same = place[back[:, 0]]
    if standing.size * fold.turns != len(groups) or (same < 0).any():
        raise _lost(fold)
    if (back != groups[same]).any():
        raise _lost(fold)
    return standing, None


def _inside(fold: Fold, groups: IntArray) -> Fold | None:
    """Return the renamings of places, if every group is taken to itself."""
    size = groups.shape[1]
    moved = fold.moved(groups, 1)
    (found,) = np.nonzero(groups[0] == moved[0, 0])
    if not found.size:
        return None
    # Places may be counted the other way round.
    by = min(int(found[0]), size - int(found[0]))
    ahead = 1 if by == int(found[0]) else -1
    if not 0 < by < size or size % by:
        return None
    if fold.kind == "xor":
        by, ahead = int(found[0]), 1
    if fold.kind == "xor" and (by & (by - 1) or size & (size - 1)):
        return None
    inside = Fold(fold.kind, size, by)
    if inside.turns != fold.turns:
        return None
    places = np.arange(size)
    for turn in fold.generators:
        if (fold.moved(groups, turn) != groups[:, inside.moved(places, ahead * turn)]).any():
            return None
    return inside


def _lost(fold: Fold) -> InputError:
    return InputError(
        f"part: groups of ranks that renaming by {fold.kind} in steps of {fold.step} does not "
        "take to groups"
    )
