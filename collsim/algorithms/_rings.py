"""In which order rings go around the ranks, where there are several of them at once."""

import numpy as np
from numpy.typing import NDArray

from collsim.core.setting import Setting

__all__ = ["ring_order"]

IntArray = NDArray[np.int64]


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
