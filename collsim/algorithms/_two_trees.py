"""Two binary trees over the same ranks: who forwards in one is a leaf in the other."""

from dataclasses import dataclass, replace
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.algorithms._recording import Call, Recording
from collsim.core.setting import Setting

__all__ = ["Edge", "across_in_turns", "trees_from", "two_trees"]

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


def trees_from(setting: Setting, root: int, channel: int = 0) -> list[Edge]:
    """Return both trees of a channel from a rank, as edges between ranks.

    On one node they are two trees of ranks. On several they lead from node to node, and a
    chain through every node: that of channel k begins at the node's GPU k, which alone
    sends to and receives from other nodes, so that every channel has a NIC of its own. The
    root hands the data to that GPU of its own node first.

    Examples
    --------
    >>> setting = Setting(6, [0, 0, 0, 1, 1, 1])
    >>> [(e.src, e.dst, e.first) for e in trees_from(setting, 0, channel=1) if e.tree == 0]
    [(0, 1, 0), (1, 4, 1), (1, 2, 1), (4, 5, 2), (5, 3, 3)]
    """
    if setting.nodes == 1:
        order = from_root(setting.ranks, root).tolist()
        return [
            Edge(order[e.src], order[e.dst], e.tree, e.first) for e in two_trees(len(order))
        ]
    chains: list[list[int]] = [
        np.roll(ranks, -(channel % ranks.size)).tolist() for ranks in setting.members
    ]
    home = next(i for i, line in enumerate(chains) if root in line)
    heads = [line[0] for line in chains]
    lead = int(heads[home] != root)
    chains[home] = [root, *(rank for rank in chains[home] if rank != root)]
    order = from_root(len(chains), home).tolist()
    across = [
        Edge(heads[order[e.src]], heads[order[e.dst]], e.tree, e.first + lead)
        for e in two_trees(len(order))
    ]
    reached = {(e.tree, e.dst): e.first + 1 for e in across}
    inside = [
        Edge(src, dst, tree, reached.get((tree, line[0]), 0) + place)
        for tree in range(2)
        for line in chains
        for place, (src, dst) in enumerate(pairwise(line))
    ]
    lead_in = [edge for edge in inside if edge.src == root and lead]
    return [*lead_in, *across, *(edge for edge in inside if edge not in lead_in)]


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
