"""Two binary trees over the same ranks: who forwards in one is a leaf in the other."""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.algorithms._recording import Call, Recording
from collsim.core.setting import Setting

__all__ = ["Edge", "across_in_turns", "chained", "edges_from", "two_trees"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Edge:
    """A message's way from a rank to its child, in one of the two trees.

    Parameters
    ----------
    src, dst : int
        Places in the order of ranks; 0 is the root of both trees.
    tree : int
        0 or 1.
    first : int
        The round in which the first chunk goes this way; the others follow every second
        round.
    """

    src: int
    dst: int
    tree: int
    first: int


def two_trees(ranks: int) -> list[Edge]:
    """Return the edges of both trees, so timed that no rank sends or receives twice a round.

    Rank 0 stands above two binary trees of the others. Edges have two colours, even and odd
    rounds: the two by which a rank sends differ, and so do the two by which it receives.

    Examples
    --------
    >>> [(e.src, e.dst, e.tree, e.first) for e in two_trees(4)]
    [(0, 2, 0, 0), (2, 1, 0, 2), (2, 3, 0, 1), (0, 1, 1, 1), (1, 3, 1, 2), (1, 2, 1, 3)]
    """
    edges = _edges(ranks)
    colour = _colours(edges)
    reached: dict[tuple[int, int], int] = {(0, 0): 0, (1, 0): 0}
    timed = []
    for number, (tree, src, dst) in enumerate(edges):
        first = reached[tree, src]
        first += (first + colour[number]) % 2
        reached[tree, dst] = first + 1
        timed.append(Edge(src, dst, tree, first))
    return timed


def chained(setting: Setting, channels: int) -> bool:
    """Return whether trees lead along chains through nodes, and are no trees of ranks.

    They do on several nodes. On one they do where channels can go over cables of their own,
    as NCCL's trees do; a single channel has fewer levels as trees of ranks.

    Examples
    --------
    >>> mesh = Setting(3, rings=[[0, 1, 2], [0, 2, 1]])
    >>> [chained(mesh, 1), chained(mesh, 2), chained(Setting(3), 2)]
    [False, True, False]
    """
    return setting.nodes > 1 or (channels > 1 and setting.orders is not None)


def edges_from(setting: Setting, root: int, channel: int = 0, channels: int = 1) -> IntArray:
    """Return both trees of a channel from a rank: senders, receivers, trees, first rounds.

    On one node they are two trees of ranks; or, where several channels go over cables of
    their own, both are a chain along the ring of the channel. On several they lead from node
    to node, and a chain through every node: that of channel k begins at the node's GPU k,
    which alone sends to and receives from other nodes, so that every channel has a NIC of its
    own. The root hands the data to that GPU of its own node first. Where a node has orders of
    its own, each of which begins at another GPU, chains go by them.

    Examples
    --------
    >>> src, dst, tree, first = edges_from(Setting(6, [0, 0, 0, 1, 1, 1]), 0, channel=1)
    >>> [e[:3] for e in zip(src.tolist(), dst.tolist(), first.tolist(), tree) if e[3] == 0]
    [(0, 1, 0), (1, 4, 1), (1, 2, 1), (4, 5, 2), (5, 3, 3)]
    >>> edges_from(Setting(3), 0).tolist()
    [[0, 2, 0, 1], [2, 1, 1, 2], [0, 0, 1, 1], [0, 2, 1, 3]]
    """
    if not chained(setting, channels):
        src, dst, tree, first = _timed(setting.ranks)
        order = from_root(setting.ranks, root)
        return np.stack([order[src], order[dst], tree, first])
    own = setting.orders
    if own is not None:
        chains = list(np.stack(setting.members)[:, own[channel % len(own)]])
    elif setting.even:
        chains = list(np.roll(np.stack(setting.members), -(channel % setting.fewest), axis=1))
    else:
        chains = [np.roll(ranks, -(channel % ranks.size)) for ranks in setting.members]
    home = next(i for i, ranks in enumerate(setting.members) if root in ranks)
    heads = np.array([line[0] for line in chains])
    lead = int(heads[home] != root)
    if setting.nodes == 1:
        return _along(np.roll(chains[0], -int(np.flatnonzero(chains[0] == root)[0])))
    chains[home] = np.concatenate([[root], chains[home][chains[home] != root]])
    order = from_root(len(chains), home)
    src, dst, tree, first = _timed(len(chains))
    across = np.stack([heads[order[src]], heads[order[dst]], tree, first + lead])
    # When the first rank of every node has the first chunk, in each tree.
    reached = np.zeros((2, len(chains)), dtype=np.int64)
    reached[tree, order[dst]] = first + lead + 1
    count = np.array([line.size - 1 for line in chains])
    inside = np.stack(
        [
            np.concatenate([line[:-1] for line in chains]),
            np.concatenate([line[1:] for line in chains]),
        ]
    )
    node = np.repeat(np.arange(count.size), count)
    place = np.arange(node.size) - np.repeat(np.cumsum(count) - count, count)
    both = [
        np.stack([*inside, np.full_like(node, t), reached[t, node] + place]) for t in (0, 1)
    ]
    rest = np.concatenate(both, axis=1)
    early = (rest[0] == root) & (lead > 0)
    return np.concatenate([rest[:, early], across, rest[:, ~early]], axis=1)


def _along(line: IntArray) -> IntArray:
    """Return a chain as both trees: senders, receivers, trees, first rounds."""
    place = np.arange(line.size - 1)
    both = [np.stack([line[:-1], line[1:], np.full_like(place, t), place]) for t in (0, 1)]
    return np.concatenate(both, axis=1)


@lru_cache(maxsize=8)
def _timed(ranks: int) -> IntArray:
    """Return the edges of both trees as arrays: senders, receivers, trees, first rounds."""
    found = [(edge.src, edge.dst, edge.tree, edge.first) for edge in two_trees(ranks)]
    arrays = np.array(found, dtype=np.int64).reshape(-1, 4).T
    arrays.flags.writeable = False
    return arrays


def across_in_turns(recording: Recording, setting: Setting) -> Recording:
    """Return a recording of trees in which what goes to other nodes takes strict turns.

    So a NIC that sends to two nodes, or one that sends up and down, never has its cable
    promised to many chunks of one way before those of the other. Inside a node there is one
    neighbour to receive from.
    """
    node = np.asarray(setting.node)

    def split(call: Call) -> tuple[Call, ...]:
        across = node[call.src] != node[call.dst]
        return tuple(
            Call(
                call.kind,
                call.src[these],
                call.dst[these],
                call.pieces[these],
                call.into,
                call.channel,
                np.full(np.count_nonzero(these), queue),
                strict=queue == 0,
            )
            for queue, these in ((0, across), (1, ~across))
            if these.any()
        )

    rounds = tuple(
        tuple(chain.from_iterable(split(call) for call in calls)) for calls in recording.rounds
    )
    return replace(recording, queues=2, rounds=rounds)


def _edges(ranks: int) -> list[tuple[int, int, int]]:
    """Return (tree, src, dst), parents before their children.

    Tree 0 is in order: leaves are the odd places. Tree 1 is its mirror image where that
    turns odd into even, and else tree 0 shifted by one.
    """
    others = ranks - 1

    def second(place: int) -> int:
        return others + 1 - place if others % 2 == 0 else (place - 2) % others + 1

    edges = []
    for tree in range(2):
        ranges = [(0, 1, ranks)]
        while ranges:
            parent, low, high = ranges.pop(0)
            if low == high:
                continue
            # The largest complete left half: places 1, 2, 3 below 4, whatever is right of it.
            middle = low - 1 + (1 << ((high - low).bit_length() - 1))
            ends = (parent, middle)
            src, dst = ends if tree == 0 else (second(end) if end else 0 for end in ends)
            edges.append((tree, src, dst))
            ranges += [(middle, low, middle), (middle, middle + 1, high)]
    return edges


def _colours(edges: list[tuple[int, int, int]]) -> list[int]:
    """Return 0 or 1 per edge; edges that share a sender, or a receiver, differ.

    No rank sends or receives by more than two edges, so that edges form chains and even
    circles, and the colours alternate along them.
    """
    touching: dict[tuple[str, int], list[int]] = {}
    for number, (_, src, dst) in enumerate(edges):
        touching.setdefault(("src", src), []).append(number)
        touching.setdefault(("dst", dst), []).append(number)
    colour = [-1] * len(edges)
    for start in range(len(edges)):
        if colour[start] >= 0:
            continue
        colour[start] = 0
        waiting = [start]
        while waiting:
            number = waiting.pop()
            _, src, dst = edges[number]
            for other in touching["src", src] + touching["dst", dst]:
                if colour[other] < 0:
                    colour[other] = 1 - colour[number]
                    waiting.append(other)
    return colour
