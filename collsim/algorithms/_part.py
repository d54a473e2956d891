"""An algorithm on some ranks of a builder, with some of its pieces."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.algorithms._catalogue import find
from collsim.algorithms._given import checked_groups, checked_pieces
from collsim.algorithms._orbits import orbits
from collsim.algorithms._recorder import Recorder
from collsim.algorithms._recording import Recording, together
from collsim.core.builder import Builder
from collsim.core.collective import Collective, check_count, collective
from collsim.core.setting import Setting
from collsim.core.symmetry import Fold
from collsim.errors import InputError

__all__ = ["Build", "part"]

IntArray = NDArray[np.int64]
Build = Callable[[Builder], None]


def part(
    b: Builder,
    kind: str,
    algorithm: str | Build,
    *,
    ranks: ArrayLike | None = None,
    pieces: ArrayLike | None = None,
    root: int | None = None,
    chunks: int = 1,
    channels: int = 1,
) -> Recording:
    """Return what an algorithm lists on some ranks of a builder, with some of its pieces.

    Parameters
    ----------
    b : Builder
        Of the whole.
    kind : str
        Collective that the part is.
    algorithm : str or callable
        Its name, options included, or a function that lists its messages on a builder with
        the pieces that are given.
    ranks : int array, shape (K,) or (M, K), optional
        Ranks that take part, in the order in which the algorithm counts them; or those of
        each of M groups that have none in common. None means all. Where switches take part,
        a group has those of its nodes.
    pieces : int array, shape (blocks, x) or (M, blocks, x), optional
        Pieces of every block of the part; x is a multiple of the parts into which the
        algorithm cuts a block, and those of a channel come first. None means all pieces of
        `b`: joined to one block, chunk by chunk, or cut into a block per rank.
    root : int, optional
        Root, as place in `ranks`; None means the place of the builder's root, or 0 if the
        whole has no root.
    chunks, channels : int
        As the algorithm takes them.

    Raises
    ------
    InputError
        If the algorithm can't run there, or pieces can't be cut as it wants.

    Examples
    --------
    Rank 2 of four sends to 0, from which the first round's message comes:

    >>> b = Builder(collective("broadcast"), ranks=4, root=2)
    >>> recording = part(b, "broadcast", "linear", ranks=[2, 0])
    >>> [(c.src.tolist(), c.dst.tolist()) for calls in recording.rounds for c in calls]
    [([2], [0])]
    """
    if not isinstance(algorithm, str) and not callable(algorithm):
        raise InputError(f"part: algorithm is {algorithm!r}, expected a name or a function")
    groups = checked_groups(b, ranks)
    channels, sub = check_count("channels", channels), collective(kind)
    size = groups.shape[1]
    blocks = sub.blocks(size)
    all_or_some = _cut(b, blocks) if pieces is None else pieces
    given = checked_pieces(b, all_or_some, len(groups))
    if given.shape[1] != blocks:
        raise InputError(
            f"part: pieces has {given.shape[1]} blocks, expected {blocks} for {sub.name} "
            f"on {size} ranks"
        )
    if root is None:
        root = _place(groups[0], b.root) if sub.rooted and b.collective.rooted else 0
    inside = None
    if b.fold is not None:
        standing, inside = orbits(b.fold, groups)
        groups, given = groups[standing], given[standing]
    places, switches = _nodes(b.setting, groups)
    alike = bool((places == places[0]).all())
    found = []
    for i in range(1 if alike else len(groups)):
        mine = slice(None) if alike else slice(i, i + 1)
        width = given.shape[2] // channels
        setting = _setting(b.setting, groups[i], places[i])
        one = _record(sub, algorithm, setting, root, chunks, channels, width, inside)
        if one.pieces == 0 or given[mine].shape[2] * blocks % one.pieces:
            raise InputError(
                f"part: {sub.name} cuts a block into {one.pieces // blocks} parts, which "
                f"{given.shape[2]} pieces can't be"
            )
        parties = np.concatenate([groups[mine], np.stack(switches[mine])], axis=1)
        table = given[mine].reshape(parties.shape[0], one.pieces, -1)
        found.append(one.on(parties, table, b.pieces.size, _within(b)))
    return together(*found)


def _within(b: Builder) -> int:
    return 0 if b.fold is None else b.fold.step


def _cut(b: Builder, blocks: int) -> IntArray:
    """Return all pieces of a builder, in so many blocks."""
    held = len(b.pieces)
    if held == blocks:
        return b.pieces
    if blocks == 1:
        return b.pieces.T.reshape(1, -1)
    if held == 1 and b.pieces.size % (blocks * b.channels) == 0:
        return b.pieces.reshape(b.channels, blocks, -1).swapaxes(0, 1).reshape(blocks, -1)
    raise InputError(f"part: {b.pieces.size} pieces in {held} blocks can't be {blocks} blocks")


def _place(group: IntArray, root: int) -> int:
    found = np.flatnonzero(group == root)
    if found.size == 0:
        raise InputError(f"part: the root, rank {root}, is not among the part's ranks")
    return int(found[0])


def _nodes(whole: Setting, groups: IntArray) -> tuple[IntArray, list[IntArray]]:
    """Return the node of every rank, counted anew in its group, and the switches of each."""
    if whole.node is None or whole.nodes == 1:
        switches = whole.agents
        return np.zeros_like(groups), [switches] * len(groups)
    _, index = np.unique(np.asarray(whole.node), return_inverse=True)
    mine = index[groups]
    # A node's number within a group: how many smaller ones there are.
    order = np.argsort(mine, axis=1, kind="stable")
    rising = np.take_along_axis(mine, order, axis=1)
    fresh = np.zeros_like(rising)
    fresh[:, 1:] = rising[:, 1:] != rising[:, :-1]
    places = np.empty_like(mine)
    np.put_along_axis(places, order, np.cumsum(fresh, axis=1), axis=1)
    if not whole.multicast:
        return places, [np.zeros(0, dtype=np.int64)] * len(groups)
    return places, [whole.agents[np.unique(nodes)] for nodes in mine]


def _setting(whole: Setting, group: IntArray, places: IntArray) -> Setting:
    """Return the setting of the ranks of one group, whose nodes are counted anew.

    All ranks in their order keep the rings of their nodes; of some, or in another order, no
    rings are known.
    """
    node = places if places.any() else None
    same = group.size == whole.ranks and bool((group == np.arange(group.size)).all())
    return Setting(places.size, node, whole.multicast, whole.rings if same else None)


def _record(
    kind: Collective,
    algorithm: str | Build,
    setting: Setting,
    root: int,
    chunks: int,
    channels: int,
    width: int,
    fold: Fold | None = None,
) -> Recording:
    """Return what an algorithm lists, in its own ranks and pieces.

    A function that is no named algorithm gets blocks of as many pieces as there are.
    """
    if isinstance(algorithm, str):
        found = find(kind.name, algorithm)
        reason = found.limits(setting.ranks) or found.needs(setting)
        if reason is not None:
            raise InputError(f"{kind.name}/{algorithm}: {reason}")
        build, parts = found.build, found.cut(setting, chunks)
    else:
        build, parts = algorithm, width
    recorder = Recorder(kind, setting, root, chunks, parts, channels, fold)
    if setting.ranks > 1:
        build(recorder)
    return recorder.recording()
