"""Rings: in which order they go around, and several of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.builder import Builder
from collsim.core.setting import Setting

__all__ = ["Ring", "all_gather", "channel_rings", "reduce_scatter", "ring_order"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ring:
    """One way around, and what travels on it.

    Parameters
    ----------
    order : int array, shape (P,)
        Every rank once; each sends to the one behind it, the last to the first.
    shares : int array, shape (P, m)
        Pieces of each rank's share.
    """

    order: IntArray
    shares: IntArray


def ring_order(setting: Setting, channel: int = 0, channels: int = 1) -> IntArray:
    """Return the order in which the ring of a channel goes around.

    A single ring goes by the ranks. Of several, each passes through one node after the
    other, and enters and leaves every node at GPUs that no other of them uses so, as long as
    there are not more rings than GPUs. Every second node is crossed backwards: so a ring
    leaves at a GPU on the same rail as the one where it enters the next node.

    Examples
    --------
    >>> two = Setting(6, [0, 0, 0, 1, 1, 1])
    >>> [ring_order(two, channel, 3).tolist() for channel in range(3)]
    [[0, 1, 2, 5, 4, 3], [1, 2, 0, 3, 5, 4], [2, 0, 1, 4, 3, 5]]
    """
    if channels == 1:
        return np.arange(setting.ranks)
    turned = [np.roll(ranks, -channel) for ranks in setting.members]
    return np.concatenate([ranks[:: -1 if i % 2 else 1] for i, ranks in enumerate(turned)])


def channel_rings(b: Builder) -> list[Ring]:
    """Return the ring of every channel, on its share of the data.

    A rank's share is its block, or its part of the block where there is only one.
    """
    return [
        Ring(ring_order(b.setting, c, b.channels), np.reshape(b.share(c), (b.ranks, -1)))
        for c in range(b.channels)
    ]


def reduce_scatter(b: Builder, rings: Sequence[Ring]) -> None:
    """List the steps after which every rank holds the sum of its share."""
    for step in range(b.ranks - 1):
        b.next_round()
        for channel, ring in enumerate(rings):
            at = ring.order
            b.reduce(at, np.roll(at, -1), ring.shares[np.roll(at, 1 + step)], channel=channel)


def all_gather(b: Builder, rings: Sequence[Ring]) -> None:
    """List the steps after which every rank holds all shares."""
    for step in range(b.ranks - 1):
        b.next_round()
        for channel, ring in enumerate(rings):
            at = ring.order
            b.copy(at, np.roll(at, -1), ring.shares[np.roll(at, step)], channel=channel)
