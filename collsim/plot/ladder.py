"""Which devices of a cluster stand above others, and which belong to a node."""

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from collsim.core.cluster import Cluster

__all__ = ["Ladder", "climb", "is_nic"]

_PART: Final = re.compile(r"\w+")


@dataclass
class Ladder:
    """The devices that routes pass.

    Parameters
    ----------
    level : dict of int to int
        How far every device is from the GPUs, from 1 up.
    home : dict of int to int
        Node that a device belongs to; missing for those between nodes.
    side : dict of int to str
        ``"above"`` if messages inside a node pass it, ``"below"`` if only others do.
    beside : dict of int to set of int
        Vertices that a vertex has links to.
    nics : set of int
        Ranks with a NIC that is a link of their own.
    """

    level: dict[int, int] = field(default_factory=dict)
    home: dict[int, int] = field(default_factory=dict)
    side: dict[int, str] = field(default_factory=dict)
    beside: dict[int, set[int]] = field(default_factory=dict)
    nics: set[int] = field(default_factory=set)


def is_nic(link: str) -> bool:
    """Return whether a link is a NIC's own, which has no box among the devices.

    Examples
    --------
    >>> is_nic("nic[3].up"), is_nic("nic[3]>gpu[7]")
    (True, False)
    """
    return link.startswith("nic[") and ">" not in link


def climb(cluster: Cluster, shown: list[int]) -> Ladder:
    """Return the devices that the routes between some ranks pass.

    Parameters
    ----------
    cluster : Cluster
        Where they are.
    shown : list of int
        The ranks.

    Examples
    --------
    >>> ladder = climb(Cluster.load("dgx-h100", nodes=2), [0, 1, 8, 9])
    >>> ladder.level[16], ladder.home[16], ladder.side[16], len(ladder.nics)
    (1, 0, 'above', 16)
    """
    ladder = Ladder()
    links = cluster.links
    if links.tail is None or links.head is None:
        return ladder
    for a, b, name in zip(links.tail.tolist(), links.head.tolist(), links.names, strict=True):
        if a == b:
            continue
        ladder.beside.setdefault(a, set()).add(b)
        ladder.beside.setdefault(b, set()).add(a)
        low, high = min(a, b), max(a, b)
        if is_nic(name) and low < cluster.ranks <= high:
            ladder.nics.add(low)
    if len(shown) > 1:
        _walk(cluster, shown, ladder)
    _settle(cluster, ladder)
    return ladder


def _walk(cluster: Cluster, shown: list[int], ladder: Ladder) -> None:
    """Find the level of every device on a route: its steps from the nearer end."""
    tail, head = cluster.links.tail, cluster.links.head
    if tail is None or head is None:
        return
    pairs = np.array([(a, b) for a in shown for b in shown if a != b])
    ptr, crossed = cluster.router(pairs[:, 0], pairs[:, 1])
    for i, (a, b) in enumerate(pairs.tolist()):
        route = crossed[ptr[i] : ptr[i + 1]]
        near = cluster.node[a] == cluster.node[b]
        for step, link in enumerate(route, 1):
            # Both ends of it: between two of its links a route may change switches, over
            # what is no link of the cluster.
            for vertex, done in ((int(head[link]), step), (int(tail[link]), step - 1)):
                if vertex >= cluster.ranks:
                    up = max(min(done, len(route) - done), 1)
                    ladder.level[vertex] = max(ladder.level.get(vertex, 1), up)
                    if near:
                        ladder.side[vertex] = "above"
                        ladder.home.setdefault(vertex, int(cluster.node[a]))


def _settle(cluster: Cluster, ladder: Ladder) -> None:
    """Put devices of one kind on one level, and NICs to their nodes."""
    for vertex in ladder.level:
        ladder.side.setdefault(vertex, "below")
        near = {v for v in ladder.beside[vertex] if v < cluster.ranks}
        homes = {int(cluster.node[v]) for v in near}
        if len(homes) == 1 and not near & ladder.nics:
            ladder.home.setdefault(vertex, homes.pop())
    kinds: dict[tuple[str, str, bool], int] = {}
    for vertex, up in ladder.level.items():
        kind = _kind(cluster, ladder, vertex)
        kinds[kind] = max(kinds.get(kind, 0), up)
    for vertex in ladder.level:
        ladder.level[vertex] = kinds[_kind(cluster, ladder, vertex)]


def _kind(cluster: Cluster, ladder: Ladder, vertex: int) -> tuple[str, str, bool]:
    part = _PART.match(cluster.vertex(vertex))
    return part[0] if part else "", ladder.side[vertex], vertex in ladder.home
