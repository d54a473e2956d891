"""Rings: in which order they go around the ranks, and what goes around them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.builder import Builder
from collsim.core.schedule import COPY, REDUCE
from collsim.core.setting import Setting
from collsim.core.symmetry import Axes, Symmetry

__all__ = [
    "gather_around",
    "ring_of_parts_symmetry",
    "ring_order",
    "ring_symmetry",
    "scatter_around",
    "share_cables",
]

IntArray = NDArray[np.int64]

# Messages that are listed at once: their numbers take some megabytes.
_AT_ONCE: Final = 1 << 20


def ring_order(setting: Setting, channel: int, channels: int) -> IntArray:
    """Return the order in which the ring of a channel goes around.

    A single ring goes by the ranks. Of several, each passes through one node after the
    other, and enters and leaves every node at GPUs that no other of them uses so, as long as
    there are not more rings than GPUs. Every second node is crossed backwards: so a ring
    leaves at a GPU on the same rail as the one where it enters the next node.

    Where a node has orders of its own, over cables that no other ring uses, each ring takes
    one of these through every node; on one node a single ring does too.

    Examples
    --------
    >>> two = Setting(6, [0, 0, 0, 1, 1, 1])
    >>> [ring_order(two, channel, 3).tolist() for channel in range(3)]
    [[0, 1, 2, 5, 4, 3], [1, 2, 0, 3, 5, 4], [2, 0, 1, 4, 3, 5]]
    >>> mesh = Setting(3, rings=[[0, 1, 2], [0, 2, 1]])
    >>> [ring_order(mesh, channel, 2).tolist() for channel in range(2)]
    [[0, 1, 2], [0, 2, 1]]
    """
    own = setting.orders
    if channels == 1 and (own is None or setting.nodes > 1):
        return np.arange(setting.ranks)
    if own is not None:
        rows = np.stack(setting.members)[:, own[channel % len(own)]]
        rows[1::2] = rows[1::2, ::-1].copy()
        return rows.ravel()
    if setting.even:
        rows = np.roll(np.stack(setting.members), -channel, axis=1)
        rows[1::2] = rows[1::2, ::-1].copy()
        return rows.ravel()
    turned = [np.roll(ranks, -channel) for ranks in setting.members]
    return np.concatenate([ranks[:: -1 if i % 2 else 1] for i, ranks in enumerate(turned)])


def share_cables(setting: Setting) -> bool:
    """Return whether two rings of one node go from one rank to the same next.

    Examples
    --------
    >>> share_cables(Setting(3, rings=[[0, 1, 2], [0, 2, 1]]))
    False
    >>> share_cables(Setting(3, rings=[[0, 1, 2], [0, 2, 1], [1, 2, 0]]))
    True
    """
    own = setting.orders
    if own is None or setting.nodes > 1:
        return False
    ways = own * setting.ranks + np.roll(own, -1, axis=1)
    return np.unique(ways).size < ways.size


def gather_around(b: Builder, shares: IntArray) -> None:
    """List an all_gather: every rank passes on to the next the share that it had last.

    Parameters
    ----------
    shares : int array, shape (C, P)
        For each channel the piece that each rank contributes.
    """
    place = np.tile(b.every, (b.channels, 1))
    _around(b, COPY, shares, place, first=0)


def scatter_around(b: Builder, shares: IntArray) -> None:
    """List a reduce_scatter: sums of a share go around until they reach its rank.

    Messages of a round are listed by sender, those of the all_gather by their places.

    Parameters
    ----------
    shares : int array, shape (C, P)
        For each channel the piece that each rank is to have.
    """
    senders = b.every
    place = np.empty((b.channels, senders.size), dtype=np.int64)
    for channel in range(b.channels):
        order = ring_order(b.setting, channel, b.channels)
        where = np.empty_like(order)
        where[order] = np.arange(order.size)
        place[channel] = where[senders]
    _around(b, REDUCE, shares, place, first=1)


def _around(b: Builder, kind: int, shares: IntArray, place: IntArray, first: int) -> None:
    """List P - 1 rounds; in each, the share sent is that of one place further back.

    Parameters
    ----------
    place : int array, shape (C, K)
        Senders, as places of each channel's ring.
    first : int
        How far back the share of the first round is.
    """
    ranks = b.ranks
    orders = [ring_order(b.setting, channel, b.channels) for channel in range(b.channels)]
    src = np.stack([o[p] for o, p in zip(orders, place, strict=True)])
    dst = np.stack([o[(p + 1) % ranks] for o, p in zip(orders, place, strict=True)])
    # A row twice over: no index then falls out of it.
    rows = np.stack([share[o] for share, o in zip(shares, orders, strict=True)])
    twice = np.concatenate([rows, rows], axis=1).astype(np.int32)
    channel = np.arange(b.channels)[:, None]
    many = max(1, _AT_ONCE // src.size)
    for start in range(0, ranks - 1, many):
        step = first + np.arange(start, min(start + many, ranks - 1))
        back = (ranks + place - step[:, None, None]).astype(np.int32)
        b.block(kind, src, dst, twice[channel, back])


def _nodes_there_and_back(setting: Setting, channels: int) -> int:
    """Return after how many ranks rings are the same: of several, after two nodes."""
    return 1 if channels == 1 else 2 * setting.fewest


def _a_part_per_rank(setting: Setting, _chunks: int, channels: int) -> Axes:
    return (channels, 0), (setting.ranks, 1)


_RING: Final = Symmetry("shift", step=_nodes_there_and_back)
_RING_OF_PARTS: Final = Symmetry("shift", _a_part_per_rank, _nodes_there_and_back)


def _own_on_one_node(setting: Setting) -> bool:
    """Return whether rings go around in orders that no renaming leaves alone."""
    return setting.rings is not None and setting.nodes == 1


def ring_symmetry(setting: Setting) -> Symmetry | None:
    """Return what rings claim of themselves."""
    return None if _own_on_one_node(setting) else _RING


def ring_of_parts_symmetry(setting: Setting) -> Symmetry | None:
    """Return the same of rings that cut a block into a part for every rank."""
    return None if _own_on_one_node(setting) else _RING_OF_PARTS
