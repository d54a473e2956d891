"""Shortest paths over the graph that links make."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.link import Links
from collsim.errors import InputError
from collsim.topology._routes import Routes, from_columns

__all__ = ["Paths", "shortest"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Paths:
    """A router along the best path of every pair.

    Parameters
    ----------
    last : int32 array, shape (P, V)
        Last link of the path from rank p to vertex v; -1 where there is none.
    tail : int array, shape (L,)
        Vertex at which every link begins.

    Raises
    ------
    InputError
        When called with a pair that no path joins.
    """

    last: NDArray[np.int32]
    tail: IntArray

    def __call__(self, src: IntArray, dst: IntArray) -> Routes:
        here = np.asarray(dst, dtype=np.int64)
        columns: list[IntArray] = []
        while (away := here != src).any():
            link = np.where(away, self.last[src, here], -1).astype(np.int64)
            lost = np.flatnonzero(away & (link < 0))
            if lost.size:
                a, b = int(src[lost[0]]), int(dst[lost[0]])
                raise InputError(f"no links lead from rank {a} to rank {b}")
            columns.append(link)
            here = np.where(away, self.tail[link], here)
        return from_columns(columns[::-1], here.size)


def shortest(links: Links, ranks: int, vertices: int) -> Paths:
    """Return the best path of every pair of ranks.

    Fewest links; of these the one whose narrowest link has the most bandwidth; of these
    the one whose links have the smaller numbers, from the last one back.

    Parameters
    ----------
    links : Links
        With vertices.
    ranks, vertices : int
        Number of ranks, and of all vertices.

    Examples
    --------
    >>> from collsim.core.link import Bundle, LinkClass
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> line = Links.assemble(Bundle(["a", "b"], wire, True, [0, 1], [1, 2]))
    >>> shortest(line, 3, 3)(np.array([0]), np.array([2]))[1].tolist()
    [0, 1]
    """
    if links.tail is None or links.head is None:
        raise InputError("links: have no vertices, expected a graph")
    last = np.full((ranks, vertices), -1, dtype=np.int32)
    reached = np.zeros((ranks, vertices), dtype=bool)
    reached[np.arange(ranks), np.arange(ranks)] = True
    # Links in the order of their heads: those into one vertex stand together.
    order = np.argsort(links.head, kind="stable")
    tail, head, rate = links.tail[order], links.head[order], 1.0 / links.beta[order]
    into, start = np.unique(head, return_index=True)
    group = np.repeat(np.arange(into.size), np.diff(np.append(start, head.size)))
    width = np.where(reached, np.inf, -1.0)
    front = reached.copy()
    while front.any() and head.size:
        usable = front[:, tail] & ~reached[:, head]
        found = np.where(usable, np.minimum(width[:, tail], rate), -1.0)
        best = np.maximum.reduceat(found, start, axis=1)
        wins = usable & (found == best[:, group])
        link = np.minimum.reduceat(np.where(wins, order, len(links)), start, axis=1)
        new = best > 0
        front = np.zeros_like(front)
        front[:, into] = new
        reached |= front
        width[:, into] = np.where(new, best, width[:, into])
        last[:, into] = np.where(new, link, last[:, into])
    last.flags.writeable = False
    return Paths(last, links.tail)
