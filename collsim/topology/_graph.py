"""The graph that the links of a cluster make: who owns a vertex, and ways around."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.errors import InputError

__all__ = ["Graph"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Graph:
    """Links between vertices; what never blocks and costs nothing joins several into one.

    A route may leave one switch and go on from another, where what lies between them is
    no link of the cluster (the spine over rails). Such vertices count as one.

    Parameters
    ----------
    cluster : Cluster
        Whose links have ends.

    Raises
    ------
    InputError
        If its links have no ends.
    """

    cluster: Cluster

    def __post_init__(self) -> None:
        if self.cluster.links.tail is None or self.cluster.links.head is None:
            raise InputError(
                f"cluster {self.cluster.name!r} ({self.cluster.shape}): its links don't say "
                "what they join, expected a cluster of parts"
            )

    @property
    def vertices(self) -> int:
        """Number of GPUs and devices."""
        return self.cluster.ranks + len(self.cluster.devices)

    @cached_property
    def joined(self) -> IntArray:
        """Of every vertex, the least one that it is one with."""
        tail, head = self._ends
        others = np.arange(1, self.cluster.ranks)
        zero = np.zeros_like(others)
        # Out of one rank and into it is enough: what is joined there is joined for all.
        ptr, link = self.cluster.router(
            np.concatenate([zero, others]), np.concatenate([others, zero])
        )
        inner = np.ones(link.size, dtype=bool)
        inner[ptr[:-1][np.diff(ptr) > 0]] = False
        after = np.flatnonzero(inner)
        pairs = np.stack([head[link[after - 1]], tail[link[after]]], axis=1)
        least = np.arange(self.vertices)
        for a, b in np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
            one, two = least[a], least[b]
            least[(least == one) | (least == two)] = min(one, two)
        return least

    @cached_property
    def _ends(self) -> tuple[IntArray, IntArray]:
        links = self.cluster.links
        none = np.zeros(0, dtype=np.int64)
        return (
            none if links.tail is None else links.tail,
            none if links.head is None else links.head,
        )

    @cached_property
    def tail(self) -> IntArray:
        """Vertex at which every link begins, those that are one counted as the least."""
        return self.joined[self._ends[0]]

    @cached_property
    def head(self) -> IntArray:
        """Vertex at which every link ends."""
        return self.joined[self._ends[1]]

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """Whether a link can carry anything, shape (L,)."""
        return np.isfinite(self.cluster.links.beta)

    def owner(self, group: IntArray) -> IntArray:
        """Return the group that each vertex belongs to: that of all GPUs nearest to it.

        Parameters
        ----------
        group : int array, shape (P,)
            Group of every rank, numbered from 0.

        Returns
        -------
        int array, shape (V,)
            -1 where the nearest GPUs are of several groups, or there is none.
        """
        owner = np.full(self.vertices, -2)
        owner[: group.size] = group
        # Whatever fails, a part belongs where it is built in.
        a, b = np.concatenate([[self.tail, self.head], [self.head, self.tail]], axis=1)
        while True:
            fresh = (owner[a] != -2) & (owner[b] == -2)
            if not fresh.any():
                break
            low, high = np.full(owner.size, group.size), np.full(owner.size, -1)
            np.minimum.at(low, b[fresh], owner[a[fresh]])
            np.maximum.at(high, b[fresh], owner[a[fresh]])
            reached = np.unique(b[fresh])
            owner[reached] = np.where(low == high, high, -1)[reached]
        owner[owner == -2] = -1
        return owner[self.joined]

    def paths(self, src: int) -> IntArray:
        """Return the last link of the best path from a vertex to every other, -1 for none.

        Fewest links, then the widest of those, then the lowest number at every step.
        GPUs pass on what is not for them.
        """
        usable = np.flatnonzero(self.alive & (self.tail != self.head))
        tail, head = self.tail[usable], self.head[usable]
        rate = 1.0 / np.maximum(self.cluster.links.beta[usable], 1e-300)
        last = np.full(self.vertices, -1)
        width = np.zeros(self.vertices)
        width[src] = np.inf
        seen = np.zeros(self.vertices, dtype=bool)
        seen[src] = True
        front = seen.copy()
        while front.any():
            step = np.flatnonzero(front[tail] & ~seen[head])
            wide = np.minimum(width[tail[step]], rate[step])
            # The best is written last: narrow before wide, of equals the lowest number.
            order = np.lexsort((-usable[step], wide))
            step, wide = step[order], wide[order]
            last[head[step]] = usable[step]
            width[head[step]] = wide
            front = np.zeros_like(seen)
            front[head[step]] = True
            seen |= front
        return last

    def route(self, last: IntArray, src: int, dst: int) -> list[int]:
        """Return the links of the best path, in order; `last` is what `paths` returned."""
        route: list[int] = []
        while dst != src:
            link = int(last[dst])
            if link < 0:
                return []
            route.append(link)
            dst = int(self.tail[link])
        return route[::-1]
