"""A cluster of links that are given one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut
from collsim.core.link import Links
from collsim.errors import InputError
from collsim.topology._paths import Paths, shortest
from collsim.topology._routes import Routes, either

__all__ = ["listed"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Given:
    """Given routes for some pairs, shortest paths for the others.

    Parameters
    ----------
    key : int array, shape (K,)
        ``src * P + dst`` of the given pairs, sorted.
    ptr, link : int arrays
        Their routes.
    """

    ranks: int
    paths: Paths
    key: IntArray
    ptr: IntArray
    link: IntArray

    def __call__(self, src: IntArray, dst: IntArray) -> Routes:
        key = src * self.ranks + dst
        at = np.minimum(np.searchsorted(self.key, key), self.key.size - 1)
        given = self.key[at] == key
        mine = at[given]
        counts = (self.ptr[1:] - self.ptr[:-1])[mine]
        ptr = np.zeros(mine.size + 1, dtype=np.int64)
        np.cumsum(counts, out=ptr[1:])
        place = np.arange(ptr[-1]) + np.repeat(self.ptr[mine] - ptr[:-1], counts)
        return either(given, (ptr, self.link[place]), self.paths(src[~given], dst[~given]))


def listed(
    name: str,
    node: Sequence[int],
    links: Links,
    devices: Sequence[str],
    routes: Mapping[tuple[int, int], Sequence[int]],
    *,
    gamma: float = 0.0,
    launch: float = 0.0,
) -> Cluster:
    """Return a cluster from its graph.

    Parameters
    ----------
    name : str
        Name of the cluster.
    node : sequence of int
        Node of every rank.
    links : Links
        With vertices; every link charges its alpha, whatever the route.
    devices : sequence of str
        Names of the vertices from P up.
    routes : dict of (int, int) to sequence of int
        Links of a pair's route; other pairs take the shortest path, see
        :func:`collsim.topology._paths.shortest`.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.

    Raises
    ------
    InputError
        If no links lead from one rank to another.

    Examples
    --------
    >>> from collsim.core.link import Bundle, LinkClass
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> pair = Links.assemble(Bundle(["there", "back"], wire, True, [0, 1], [1, 0]))
    >>> listed("pair", [0, 0], pair, [], {}).uniform
    (1e-06, 1e-09)
    """
    ranks = len(node)
    paths = shortest(links, ranks, ranks + len(devices))
    router: Paths | _Given = paths
    if routes:
        given = sorted(routes)
        counts = [len(routes[pair]) for pair in given]
        router = _Given(
            ranks,
            paths,
            np.array([src * ranks + dst for src, dst in given]),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.array([link for pair in given for link in routes[pair]], dtype=np.int64),
        )
    src, dst = np.divmod(np.arange(ranks**2), ranks)
    ptr, link = router(src[src != dst], dst[src != dst])
    sums = [
        np.add.reduceat(cost[link], ptr[:-1]) for cost in (links.alpha, links.busy) if link.size
    ]
    least = [float(total.min()) for total in sums] or [0.0, 0.0]
    where = np.array(node, dtype=np.int64)
    far = where[src[src != dst]] != where[dst[src != dst]]
    several = len(set(node)) > 1
    cuts = [_cut("rank", np.arange(ranks), links, ranks)] if ranks > 1 else []
    if several:
        across = float(sums[0][far].min())
        cuts.append(replace(_cut("node", where, links, ranks), least_alpha=across))
    count, nodes = ("rank" if ranks == 1 else "ranks"), len(set(node))
    said = f" on {nodes} nodes" * several
    return Cluster(
        name=name,
        ranks=ranks,
        links=links,
        router=router,
        least_alpha=least[0],
        least_busy=least[1],
        node=where,
        cuts=tuple(cuts),
        gamma=gamma,
        launch=launch,
        uniform=_uniform(links, ranks),
        ways=_ways(links, ranks),
        devices=tuple(devices),
        shape=f"{ranks} {count}{said}, {len(links)} links given one by one",
    )


def _uniform(links: Links, ranks: int) -> tuple[float, float] | None:
    """Return alpha and beta of two ranks with one cable each way, which formulas fit."""
    if ranks != 2 or len(links) != 2 or len(set(zip(links.alpha, links.beta, strict=True))) > 1:
        return None
    direct = {(0, 1), (1, 0)} == set(zip(*_ends(links), strict=True))
    one_port = (links.lanes == 1).all() and (links.busy == links.alpha).all()
    return (float(links.alpha[0]), float(links.beta[0])) if direct and one_port else None


def _ends(links: Links) -> tuple[list[int], list[int]]:
    if links.tail is None or links.head is None:
        raise InputError("links: have no vertices, expected a graph")
    return links.tail.tolist(), links.head.tolist()


def _ways(links: Links, ranks: int) -> int:
    most = 1
    for end in _ends(links):
        at = np.array(end, dtype=np.int64)
        lanes = np.bincount(at, links.lanes, minlength=ranks)[:ranks]
        most = max(most, int(lanes.max(initial=0)))
    return most


def _cut(name: str, group: IntArray, links: Links, ranks: int) -> Cut:
    """Return what the widest group can send out, and take in.

    Whatever devices are put to a group, all that leaves it crosses the links that lead
    out of it and them. Two choices are tried: none, and those nearer to this group than to any
    other, so that a switch inside a node counts as inside.
    """
    tail, head = (np.array(end, dtype=np.int64) for end in _ends(links))
    rate = links.lanes / links.beta
    groups = int(group.max()) + 1
    size = max(ranks, int(max(tail.max(initial=0), head.max(initial=0))) + 1)
    bare = np.full(size, -1, dtype=np.int64)
    bare[:ranks] = group
    limits = []
    for owner in (bare, _nearest(bare, tail, head)):
        crossing = owner[tail] != owner[head]
        ways = []
        for end in (owner[tail], owner[head]):
            used = crossing & (end >= 0)
            ways.append(np.bincount(end[used], rate[used], minlength=groups))
        limits.append(ways)
    out, into = (np.minimum(limits[0][way], limits[1][way]).max() for way in (0, 1))
    return Cut(name, group.copy(), float(out), float(into))


def _nearest(owner: IntArray, tail: IntArray, head: IntArray) -> IntArray:
    """Give every device to the one group that is nearest to it; -1 if there are several."""
    owner = owner.copy()
    done = owner >= 0
    while True:
        votes: dict[int, set[int]] = {}
        for a, b in ((tail, head), (head, tail)):
            for near, far in zip(a[done[a] & ~done[b]], b[done[a] & ~done[b]], strict=True):
                votes.setdefault(int(far), set()).add(int(owner[near]))
        if not votes:
            return owner
        for far, groups in votes.items():
            owner[far] = groups.pop() if len(groups) == 1 else -1
            done[far] = True
