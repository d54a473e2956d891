"""Clusters with something wrong: slower cables, broken parts, ranks that enter late."""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster, Router
from collsim.core.in_switch import InSwitch
from collsim.errors import InputError
from collsim.topology._components import find_links, find_rank
from collsim.topology._graph import Graph
from collsim.topology._limits import cuts, least, ways
from collsim.units import format_time, parse_time

__all__ = ["degrade", "delay", "fail", "hurt"]

IntArray = NDArray[np.int64]

# The least that may be left of a bandwidth: no time of such a link is beyond floats.
_LEAST_LEFT: Final = 1e-12


@checked
def degrade(cluster: Cluster, component: str, left: float) -> Cluster:
    """Return a cluster of which a part has only so much of its bandwidth left.

    Alpha stays as it is, and so do all routes.

    Parameters
    ----------
    cluster : Cluster
        The healthy one.
    component : str
        What is slower: ``"nic[3]"`` in both directions, ``"nic[3].up"`` in one,
        ``"nic[1:3]"`` for NIC 3 of node 1, ``"gpu[0]>gpu[1]"``, ``"leaf[2]"`` with
        everything that is plugged into it.
    left : float
        Part of the bandwidth that is left, above 0 and at most 1. Several of one part
        multiply.

    Returns
    -------
    Cluster
        Another one; the given one stays as it is.

    Raises
    ------
    InputError
        If there is no such part, or for another number.

    Examples
    --------
    >>> slow = degrade(Cluster.load("dgx-h100", nodes=2), "nic[3]", 0.25)
    >>> [float(1 / slow.links.beta[i]) for i in slow.route(3, 11)]
    [12500000000.0, 50000000000.0]
    """
    # So little that a second becomes a lifetime is a broken part.
    if not _LEAST_LEFT <= left <= 1:
        raise InputError(
            f"degrade {component}: got {left!r}, expected the part that is left, above 0 and "
            f"at most 1, and no less than {_LEAST_LEFT:g}"
        )
    links = find_links(cluster, component)
    beta = cluster.links.beta.copy()
    beta[links] /= left
    slower = replace(
        cluster,
        links=replace(cluster.links, beta=beta),
        uniform=None,
        shape=f"{cluster.shape}, {component} at {left:.4g} of its bandwidth",
    )
    limits = cuts(slower)
    tighter = tuple(
        replace(
            cut,
            out_rate=min(cut.out_rate, new.out_rate),
            in_rate=min(cut.in_rate, new.in_rate),
        )
        for cut, new in zip(cluster.cuts, limits, strict=True)
    )
    return replace(slower, cuts=tighter)


@checked
def fail(cluster: Cluster, *components: str) -> Cluster:
    """Return a cluster of which some parts are broken.

    Messages whose route crossed a broken link take another way over the links that are
    left: the one of fewest links, then the widest, then the lowest number. A GPU may
    pass on what is not for it, as NCCL relays over a neighbour's NIC (PXN). All other
    messages go as before.

    Parameters
    ----------
    cluster : Cluster
        The healthy one.
    *components : str
        What is broken, named as in :func:`degrade`.

    Returns
    -------
    Cluster
        Another one; the given one stays as it is.

    Raises
    ------
    InputError
        If there is no such part, or some rank can no longer reach another.

    Examples
    --------
    >>> hurt = fail(Cluster.load("dgx-h100", nodes=2), "nic[3]")
    >>> [hurt.links.names[i] for i in hurt.route(3, 11)]
    ['gpu[3].up', 'gpu[0].down', 'nic[0].up', 'nic[11].down']
    """
    broken = [find_links(cluster, component) for component in components]
    if not broken:
        return cluster
    dead = np.unique(np.concatenate(broken))
    beta = cluster.links.beta.copy()
    beta[dead] = math.inf
    graph = Graph(cluster)
    links = replace(cluster.links, beta=beta)
    said = f"{cluster.shape}, without {', '.join(components)}"
    left = replace(cluster, links=links, uniform=None, shape=said)
    # What is joined without a link stays so.
    around = Graph(left)
    around.__dict__["joined"] = graph.joined
    _check_reach(around, components)
    least_alpha, least_busy = least(around)
    return replace(
        left,
        router=_Detours(cluster.router, dead, around),
        least_alpha=min(cluster.least_alpha, least_alpha),
        least_busy=min(cluster.least_busy, least_busy),
        ways=max(cluster.ways, ways(around)),
        cuts=cuts(left, around),
        in_switch=_whole(left),
    )


@checked
def delay(cluster: Cluster, rank: str | int, seconds: float | str) -> Cluster:
    """Return a cluster one of whose ranks enters every collective late.

    Its messages, out and in, wait for it, and a collective is not done before it has
    entered.

    Parameters
    ----------
    cluster : Cluster
        The healthy one.
    rank : str or int
        ``"rank[3]"``, ``"rank[1:3]"`` for the one with index 3 of node 1, or a number.
    seconds : float or str
        Or text such as ``"500us"``. Several of one rank add up.

    Returns
    -------
    Cluster
        Another one; the given one stays as it is.

    Raises
    ------
    InputError
        If there is no such rank, or the time is negative or not finite.

    Examples
    --------
    >>> delay(Cluster.ideal(4, "10us", "900GB/s"), "rank[3]", "500us").delay.tolist()
    [0.0, 0.0, 0.0, 0.0005]
    """
    late = parse_time(seconds) if isinstance(seconds, str) else seconds
    if not 0 <= late <= sys.float_info.max:
        raise InputError(
            f"delay {rank}: got {seconds!r}, expected seconds, 0 or more and finite"
        )
    index = find_rank(cluster, rank if isinstance(rank, str) else f"rank[{rank}]")
    delays = np.zeros(cluster.ranks) if cluster.delay is None else cluster.delay.copy()
    delays[index] += late
    if not delays.any():
        return cluster
    said = f"{cluster.shape}, rank[{index}] {format_time(late)} late"
    return replace(cluster, delay=delays, uniform=None, shape=said)


def hurt(
    cluster: Cluster,
    degraded: Iterable[tuple[str, float]],
    failed: Iterable[str],
    delayed: Iterable[tuple[str, float]],
) -> Cluster:
    """Return a cluster with all that is wrong with it; see `degrade`, `fail` and `delay`.

    Examples
    --------
    >>> two = Cluster.load("dgx-h100", nodes=2)
    >>> hurt(two, [("nic[0]", 0.5)], ["nic[3]"], [("rank[1]", 1e-6)]).shape
    '2 nodes of 8 GPUs on a switch, one NIC per GPU on rails, nic[0] at 0.5 of its bandwidth,
    without nic[3], rank[1] 1us late'
    """
    for component, left in degraded:
        cluster = degrade(cluster, component, left)
    cluster = fail(cluster, *failed)
    for rank, seconds in delayed:
        cluster = delay(cluster, rank, seconds)
    return cluster


def _whole(cluster: Cluster) -> InSwitch | None:
    """Return the links to switches, or None where one is broken: no other way leads there."""
    inside = cluster.in_switch
    if inside is None:
        return None
    beta = cluster.links.beta
    whole = np.isfinite(beta[inside.up]).all() and np.isfinite(beta[inside.down]).all()
    return inside if whole else None


@dataclass(frozen=True, eq=False)
class _Detours:
    """Routes as they were, and around what is broken where they crossed it."""

    usual: Router
    dead: IntArray
    graph: Graph
    found: dict[int, IntArray] = field(default_factory=dict)

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        ptr, link = self.usual(src, dst)
        pair = np.repeat(np.arange(src.size), np.diff(ptr))
        hurt = np.unique(pair[np.isin(link, self.dead)])
        if not hurt.size:
            return ptr, link
        around = {int(i): self._way(int(src[i]), int(dst[i])) for i in hurt}
        counts = np.diff(ptr)
        counts[hurt] = [len(around[int(i)]) for i in hurt]
        new = np.zeros(src.size + 1, dtype=np.int64)
        np.cumsum(counts, out=new[1:])
        changed = np.zeros(src.size, dtype=bool)
        changed[hurt] = True
        out = np.empty(new[-1], dtype=np.int64)
        here = np.repeat(changed, counts)
        out[~here] = link[~changed[pair]]
        out[here] = np.concatenate([around[int(i)] for i in hurt])
        return new, out

    def _way(self, src: int, dst: int) -> list[int]:
        if src not in self.found:
            self.found[src] = self.graph.paths(src)
        return self.graph.route(self.found[src], src, dst)


def _check_reach(graph: Graph, components: Iterable[str]) -> None:
    cluster = graph.cluster
    first = graph.paths(0)
    lost = [r for r in range(1, cluster.ranks) if first[r] < 0]
    pair = (0, lost[0]) if lost else None
    if pair is None:
        # Whoever rank 0 reaches and who reaches rank 0 reaches everybody.
        back = _reaches(graph, 0)
        lost = [r for r in range(cluster.ranks) if not back[r]]
        pair = (lost[0], 0) if lost else None
    if pair is None and cluster.local is not None:
        alone = np.flatnonzero(~graph.alive[cluster.local])
        pair = (int(alone[0]), int(alone[0])) if alone.size else None
    if pair is not None:
        raise InputError(
            f"fail {', '.join(components)}: rank {pair[0]} can no longer reach rank {pair[1]}"
        )


def _reaches(graph: Graph, dst: int) -> NDArray[np.bool_]:
    seen = np.zeros(graph.vertices, dtype=bool)
    seen[dst] = True
    while True:
        new = graph.tail[graph.alive & seen[graph.head]]
        if seen[new].all():
            return seen
        seen[new] = True
