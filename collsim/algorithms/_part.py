"""An algorithm on some ranks of a builder, with some of its pieces."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.algorithms._catalogue import find
from collsim.algorithms._given import checked_groups, checked_pieces
from collsim.algorithms._recorder import Recorder
from collsim.algorithms._recording import Recording, together
from collsim.core.builder import Builder
from collsim.core.collective import Collective, check_count, collective
from collsim.core.setting import Setting
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
    settings = [_setting(b.setting, group) for group in groups]
    alike = all(np.array_equal(nodes, settings[0][1]) for _, nodes, _ in settings)
    found = []
    for i, (setting, _, switches) in enumerate(settings[:1] if alike else settings):
        mine = slice(None) if alike else slice(i, i + 1)
        width = given.shape[2] // channels
        one = _record(sub, algorithm, setting, root, chunks, channels, width)
        if one.pieces == 0 or given[mine].shape[2] * blocks % one.pieces:
            raise InputError(
                f"part: {sub.name} cuts a block into {one.pieces // blocks} parts, which "
                f"{given.shape[2]} pieces can't be"
            )
        every = [every for _, _, every in settings] if alike else [switches]
        parties = np.concatenate([groups[mine], np.stack(every)], axis=1)
        table = given[mine].reshape(parties.shape[0], one.pieces, -1)
        found.append(one.on(parties, table, b.pieces.size))
    return together(*found)


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


def _setting(whole: Setting, group: IntArray) -> tuple[Setting, IntArray, IntArray]:
    """Return the setting of some ranks, their nodes counted anew, and these nodes' switches."""
    if whole.node is None:
        nodes, place = np.zeros(1, dtype=np.int64), np.zeros(group.size, dtype=np.int64)
    else:
        every, index = np.unique(np.asarray(whole.node), return_inverse=True)
        nodes, place = np.unique(index[group], return_inverse=True)
        if every.size == 1:
            place = np.zeros(group.size, dtype=np.int64)
    switches = whole.agents[nodes] if whole.multicast else np.zeros(0, dtype=np.int64)
    node = None if nodes.size == 1 else place
    return Setting(group.size, node, whole.multicast), place, switches


def _record(
    kind: Collective,
    algorithm: str | Build,
    setting: Setting,
    root: int,
    chunks: int,
    channels: int,
    width: int,
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
    recorder = Recorder(kind, setting, root, chunks, parts, channels)
    if setting.ranks > 1:
        build(recorder)
    return recorder.recording()
