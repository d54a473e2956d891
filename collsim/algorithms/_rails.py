"""Nodes with equally many ranks: the ranks of one node, and those of one rail across nodes."""

import numpy as np
from numpy.typing import NDArray

from collsim.core.setting import Setting

__all__ = ["even_nodes", "grid"]

Int64 = NDArray[np.int64]


def even_nodes(setting: Setting) -> str | None:
    """Return why there are no rails: it takes several nodes, with equally many ranks."""
    if setting.nodes == 1:
        return "all ranks are on one node, so there is no step across nodes"
    if not setting.even:
        return "nodes have different numbers of ranks, so some rank has no partner on each node"
    if setting.fewest == 1:
        return "every node has one rank, so there is no step inside a node"
    return None


def grid(setting: Setting) -> Int64:
    """Return the ranks, shape (N, G): a row per node, a column per rail.

    Examples
    --------
    >>> grid(Setting(4, [0, 1, 0, 1])).tolist()
    [[0, 2], [1, 3]]
    """
    return np.array(setting.members, dtype=np.int64)
