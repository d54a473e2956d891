"""Whether a cluster stays what it is when its ranks are renamed, and what its links become.

Nothing is tried pair by pair. The shape of the cluster says which link becomes which
(:class:`~collsim.core.cluster.Renamable`), and every number that a link or rank has is
compared, one array at a time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Renamable
from collsim.core.symmetry import Fold

__all__ = ["Orbits", "prove"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Orbits:
    """Links by what renaming makes of them: orbits, each with a link that stands for it.

    Parameters
    ----------
    standing : int array, shape (L,)
        The link that stands for each.
    turn : int array, shape (L,)
        Turns after which the standing one is this one.
    free : bool array, shape (L,)
        Whether every turn makes another link of it. Of the others several messages of one
        orbit meet on one link.
    """

    standing: IntArray
    turn: IntArray
    free: NDArray[np.bool_]


def prove(cluster: Cluster, fold: Fold) -> Orbits | str:
    """Return what becomes of the links of a cluster, or why it does not stay what it is.

    Parameters
    ----------
    cluster : Cluster
        Where a schedule is to run.
    fold : Fold
        Renamings of its ranks.

    Examples
    --------
    >>> pair = Cluster.load("dgx-h100", nodes=2)
    >>> prove(pair, Fold("shift", 16, 8)).standing[[0, 8, 15]].tolist()
    [0, 0, 7]
    >>> prove(pair, Fold("shift", 16, 4))
    'renaming by a shift of 4 takes some routes to no others'
    """
    if cluster.order is not None:
        return "ranks do not sit on the GPUs of their own numbers"
    every = np.arange(cluster.ranks)
    standing, turn = np.arange(len(cluster.links)), np.zeros(len(cluster.links), dtype=np.int64)
    for generator in fold.generators:
        to = fold.moved(every, generator)
        if cluster.delay is not None and (cluster.delay[to] != cluster.delay).any():
            return "some ranks enter later than others"
        becomes = _becomes(cluster, to)
        if becomes is None:
            how = "a shift" if fold.kind == "shift" else "XOR with multiples"
            return f"renaming by {how} of {fold.step} takes some routes to no others"
        reason = _unequal(cluster, becomes)
        if reason is not None:
            return reason
        standing, turn = _joined(fold, standing, turn, becomes, generator)
    size = np.bincount(standing, minlength=standing.size)
    return Orbits(standing, turn, size[standing] == fold.turns)


def _becomes(cluster: Cluster, to: IntArray) -> IntArray | None:
    """Return what every link becomes; links on no route stay."""
    if not isinstance(cluster.router, Renamable):
        return None
    named = cluster.router.renamed(to)
    if named is None:
        return None
    before, after = named
    if cluster.local is not None:
        before = np.concatenate([before, cluster.local])
        after = np.concatenate([after, cluster.local[to]])
    becomes = np.arange(len(cluster.links))
    becomes[before] = after
    if (becomes[before] != after).any() or int(np.bincount(becomes).max()) > 1:
        return None
    return becomes


def _unequal(cluster: Cluster, becomes: IntArray) -> str | None:
    """Return which links differ from what they become, or None."""
    links = cluster.links
    for column in (links.alpha, links.beta, links.busy, links.lanes):
        wrong = np.flatnonzero(column[becomes] != column)
        if wrong.size:
            one = int(wrong[0])
            return f"{links.names[one]} differs from {links.names[int(becomes[one])]}"
    return None


def _joined(
    fold: Fold, standing: IntArray, turn: IntArray, becomes: IntArray, generator: int
) -> tuple[IntArray, IntArray]:
    """Return orbits joined by one more renaming: the smallest link stands for each.

    Where renaming goes around, it is followed over 1, 2, 4, ... turns, so that the smallest
    of so many is known, and how far it is.
    """
    length = fold.turns if fold.kind == "shift" else 2
    step = generator
    reach, ahead = 1, becomes
    while reach < length:
        there, far = standing[ahead], turn[ahead]
        # After `step` turns link l is ahead[l], which is `far` turns after what stands for it.
        back = fold.after(far, fold.back(np.asarray(step)))
        less = there < standing
        standing, turn = np.where(less, there, standing), np.where(less, back, turn)
        reach *= 2
        if fold.kind == "shift":
            ahead, step = ahead[ahead], step * 2
    return standing, turn
