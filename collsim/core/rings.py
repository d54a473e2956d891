"""Rings over a machine's own cables: link-disjoint orders of the GPUs of a node.

GPUs that are joined directly, without a switch, have as many ways out as cables; a ring uses
one of them. NCCL therefore searches several rings that share no cable, each for a channel of
its own (`src/graph/search.cc` of 2.30.7: a walk from GPU to GPU by the bandwidth that is left,
at several speeds); so does this, with fewer rules. In a full mesh of P GPUs the best is known:
P - 1 directed Hamiltonian cycles that use every cable once, for all P but 4 and 6 (Tillson
1980, "A Hamiltonian decomposition of K*_2m"); there twice as many that use each cable twice.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.disjoint import Uses, disjoint
from collsim.core.link import Links

__all__ = ["MOST_GPUS", "orders_of", "paths", "rings"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Router = Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]
# GPUs of a node up to which rings are sought, and how many rings at most: as many as NCCL's own
# search takes (half of MAXCHANNELS).
MOST_GPUS: Final = 16
_MOST_RINGS: Final = 32
# Steps of the search for one answer.
_ALL_STEPS: Final = 200_000
# Rates that differ by less, relative, are equal; and more rings are worth it if they carry so
# much more.
_EQUAL: Final = 1e-9
_MORE: Final = 1.05


def orders_of(node: IntArray, links: Links, router: Router) -> IntArray | None:
    """Return in which orders rings best pass through the nodes of a cluster without ports.

    Parameters
    ----------
    node : int array, shape (P,)
        Node of every rank.
    links : Links
        Every directed link.
    router : callable
        Route of every ordered pair, as a cluster has it.

    Returns
    -------
    int array, shape (rings, GPUs of a node), or None
        The ranks of a node, counted from its first, in the order in which each ring takes
        them: all around where there is one node, and on several from where it comes in to
        where it leaves. None where GPUs are not joined directly, nodes differ, or no ring
        goes over such cables alone.

    Examples
    --------
    >>> from collsim.core.cluster import Cluster
    >>> both = [Cluster.load(name) for name in ("mi300x", "dgx-h100")]
    >>> mesh, switch = (orders_of(c.node, c.links, c.router) for c in both)
    >>> mesh.shape, switch
    ((7, 8), None)
    """
    first = np.flatnonzero(node == node[0])
    gpus = first.size
    if not 2 < gpus <= MOST_GPUS or node.size % gpus:
        return None
    rates = _direct(links, router, first[None])
    if not rates.any():
        return None
    if gpus == node.size:
        return rings(rates[0])
    members = np.argsort(node, kind="stable").reshape(-1, gpus)
    if (node[members] != np.unique(node)[: len(members), None]).any():
        return None
    if (_direct(links, router, members) != rates).any():
        return None
    return paths(rates[0])


def _direct(links: Links, router: Router, members: IntArray) -> FloatArray:
    """Return the bytes per second of every pair's own cable, 0 without one: (nodes, G, G).

    The bandwidth is that of the kind of cable: NCCL does not measure either, so a slow cable
    stays in its ring. A broken one is on no route.
    """
    nodes, gpus = members.shape
    src, dst = np.nonzero(~np.eye(gpus, dtype=np.bool_))
    ptr, link = router(members[:, src].ravel(), members[:, dst].ravel())
    alone = np.diff(ptr) == 1
    mine = link[ptr[:-1][alone]]
    # A link on which several pairs meet is a bus.
    shared = np.bincount(mine, minlength=len(links))[mine] > 1
    kinds = np.array([kind.bandwidth for kind in links.classes])
    rate = kinds[links.kind[mine]] * np.maximum(links.lanes[mine], 1)
    found = np.zeros(nodes * src.size)
    found[alone] = np.where(shared, 0.0, rate)
    table = np.zeros((nodes, gpus, gpus))
    table[:, src, dst] = found.reshape(nodes, src.size)
    return table


def rings(rate: FloatArray) -> IntArray | None:
    """Return rings that carry the most together, each at the same speed.

    Parameters
    ----------
    rate : float array, shape (P, P)
        Bytes per second from each GPU to each other, over its own cables; 0 without one.

    Returns
    -------
    int array, shape (rings, P), or None
        Of sets that carry nearly as much, one of few rings. None if there is no ring.

    Notes
    -----
    Speeds are tried as NCCL does: those of the cables and their halves, as two rings may share
    a fast cable. No set carries more than what leaves a GPU, or enters it; where that is
    reached, the search ends.

    Examples
    --------
    Four GPUs, each joined to every other: six rings, of which each cable carries two.

    >>> rings(10.0 * ~np.eye(4, dtype=bool)).shape
    (6, 4)
    >>> rings(np.array([[0.0, 2, 1], [1, 0, 2], [2, 1, 0]])).tolist()
    [[0, 1, 2], [0, 1, 2], [0, 2, 1]]
    """
    most = min(rate.sum(axis=0).min(), rate.sum(axis=1).min())
    speeds = np.unique(rate[rate > 0])
    best, carried, left = None, 0.0, _ALL_STEPS
    for speed in sorted({*speeds.tolist(), *(speeds / 2).tolist()}, reverse=True):
        uses = np.floor(rate / speed * (1 + _EQUAL)).astype(np.int64)
        count = int(min(uses.sum(axis=0).min(), uses.sum(axis=1).min(), _MOST_RINGS))
        while left > 0 and count * speed > carried * _MORE:
            found, steps = disjoint(_table(uses), count)
            left -= steps
            if found is not None:
                best, carried = found, count * speed
            count -= 1
        if carried >= most * (1 - _EQUAL):
            break
    return None if best is None else np.array(best)


def paths(rate: FloatArray) -> IntArray | None:
    """Return a path through a node for each of its GPUs, which begins there.

    Each also ends at a GPU of its own. With the network for one more vertex, joined once with
    every GPU in each direction, they are rings of which none share a cable; where there are not
    so many, two may use one, and so on.

    Parameters
    ----------
    rate : float array, shape (G, G)
        As of :func:`rings`.

    Returns
    -------
    int array, shape (G, G), or None
        Row i begins with GPU i.

    Examples
    --------
    >>> paths(10.0 * ~np.eye(4, dtype=bool)).tolist()
    [[0, 1, 2, 3], [1, 3, 0, 2], [2, 0, 3, 1], [3, 2, 1, 0]]
    """
    gpus = len(rate)
    cables = np.rint(rate / rate[rate > 0].min()).astype(np.int64)
    left = _ALL_STEPS
    for shared in range(1, gpus):
        uses = np.ones((gpus + 1, gpus + 1), dtype=np.int64)
        uses[0, 0] = 0
        # More than one cable for each path is of no use.
        uses[1:, 1:] = np.minimum(cables * shared, gpus)
        found, steps = disjoint(_table(uses), gpus)
        left -= steps
        if found is not None:
            rows = np.array(found)[:, 1:] - 1
            return rows[np.argsort(rows[:, 0])]
        if left <= 0:
            break
    return None


def _table(uses: IntArray) -> Uses:
    return tuple(tuple(row) for row in uses.tolist())
