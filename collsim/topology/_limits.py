"""What a hurt cluster can still do at most, for its lower bound."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut
from collsim.topology._graph import Graph

__all__ = ["cut_rates", "cuts", "least", "ways"]

IntArray = NDArray[np.int64]


def least(graph: Graph) -> tuple[float, float]:
    """Return what alpha and alpha_busy of any way from GPU to GPU at least sum up to."""
    links, ranks = graph.cluster.links, graph.cluster.ranks
    out, into = ((end < ranks) & graph.alive for end in (graph.tail, graph.head))
    loops = graph.tail == graph.head
    found = []
    for cost in (links.alpha, links.busy):
        direct = cost[out & into & ~loops].min(initial=math.inf)
        first, last = (cost[side & ~loops].min(initial=math.inf) for side in (out, into))
        found.append(float(min(direct, first + last)))
    return found[0], found[1]


def ways(graph: Graph) -> int:
    """Return how many messages a rank can at most begin to send, or to receive, at once."""
    lanes, ranks = graph.cluster.links.lanes * graph.alive, graph.cluster.ranks
    most = [
        np.bincount(end[end < ranks], lanes[end < ranks]) for end in (graph.tail, graph.head)
    ]
    return int(max(counts.max(initial=1) for counts in most))


def cuts(cluster: Cluster, graph: Graph | None = None) -> tuple[Cut, ...]:
    """Return the cuts with what their links can carry now, whatever the routes are.

    Of the ways to draw a cut between the GPUs of its groups, around the GPUs alone and
    around all that lies nearest to them, the one that fewer bytes can cross counts. Alpha
    is the least of the routes as they were and of any way over the links that are left.
    """
    graph = Graph(cluster) if graph is None else graph
    rates = cut_rates(cluster, graph)
    return tuple(
        replace(
            cut,
            out_rate=float(out.max()),
            in_rate=float(into.max()),
            least_alpha=min(cut.least_alpha, _across(graph, cut.group)),
        )
        for cut, (out, into) in zip(cluster.cuts, rates, strict=True)
    )


def _across(graph: Graph, group: IntArray) -> float:
    """Return what alpha of any way from one group to another at least sums up to.

    It leaves one group and enters another, by one link or by two.
    """
    side, alpha = graph.owner(group), graph.cluster.links.alpha
    a, b = side[graph.tail], side[graph.head]
    crosses = (a != b) & graph.alive
    direct, out, into = (
        alpha[crosses & ends].min(initial=math.inf)
        for ends in ((a >= 0) & (b >= 0), (a >= 0) & (b < 0), (a < 0) & (b >= 0))
    )
    return float(min(direct, out + into))


def cut_rates(cluster: Cluster, graph: Graph | None = None) -> list[NDArray[np.float64]]:
    """Return bytes per second out of, and into, each group of each cut."""
    graph = Graph(cluster) if graph is None else graph
    found = []
    for cut in cluster.cuts:
        groups = int(cut.group.max()) + 1
        alone = np.full(graph.vertices, -1)
        alone[: cluster.ranks] = cut.group
        sides = [_crossing(graph, side, groups) for side in (alone, graph.owner(cut.group))]
        found.append(np.minimum(*sides))
    return found


def _crossing(graph: Graph, side: IntArray, groups: int) -> NDArray[np.float64]:
    """Return bytes per second out of, and into, each group."""
    links = graph.cluster.links
    a, b = side[graph.tail], side[graph.head]
    with np.errstate(divide="ignore"):
        # Without lanes a link has no limit; a broken one carries nothing.
        rate = np.where(links.lanes > 0, links.lanes / links.beta, np.inf)
    crosses = (a != b) & graph.alive
    rates = np.zeros((2, groups))
    for row, end in enumerate((a, b)):
        mine = crosses & (end >= 0)
        np.add.at(rates[row], end[mine], rate[mine])
    return rates
