"""Nodes with equally many ranks: the ranks of one node, and those of one rail across nodes."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import log2_up
from collsim.core.builder import Builder
from collsim.core.setting import Setting

__all__ = ["all_gather_in_groups", "even_nodes", "grid"]

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


def all_gather_in_groups(
    b: Builder,
    groups: Int64,
    shares: Int64,
    complete: int | None = None,
    turn: int | None = None,
) -> None:
    """List all_gathers inside several groups at once, by Bruck's rounds.

    Parameters
    ----------
    groups : int array, shape (M, K)
        Ranks of each group.
    shares : int array, shape (M, K, m)
        Pieces that each of them holds at the beginning.
    complete : int, optional
        A rank that has everything already, so that nobody sends to it.
    turn : int, optional
        Number of the queue in which every rank takes these messages round by round.
    """
    members = groups.shape[1]
    every = np.arange(members)
    for bit in range(log2_up(members)):
        b.next_round()
        distance = 1 << bit
        held = (every[:, None] + np.arange(min(distance, members - distance))) % members
        src = groups.ravel()
        dst = groups[:, (every - distance) % members].ravel()
        carried = shares[:, held].reshape(src.size, -1)
        wanted = np.ones(src.size, dtype=bool) if complete is None else dst != complete
        b.copy(src[wanted], dst[wanted], carried[wanted], turn=turn)
