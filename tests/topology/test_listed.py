"""Clusters from a graph: shortest paths and cuts, on random graphs."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, refusal
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.core.link import Bundle, LinkClass, Links
from collsim.engine.bound import lower_bound
from collsim.engine.simulate import simulate
from collsim.errors import InputError
from collsim.topology import listed

Edge = tuple[int, int, float]


def graph(seed: int) -> tuple[Cluster, list[Edge]]:
    """Return a random cluster, on which every rank reaches every other, and its links."""
    rng = random.Random(seed)
    ranks, devices = rng.randint(2, 7), rng.randint(0, 5)
    order = list(range(ranks + devices))
    rng.shuffle(order)
    ends = list(pairwise([*order, order[0]]))
    ends += [(a, b) for a, b in (rng.sample(order, 2) for _ in range(rng.randint(0, 12)))]
    rng.shuffle(ends)
    edges = [(a, b, float(rng.choice((1, 2, 4)))) for a, b in ends]
    bundles = [
        Bundle(
            [f"link[{i}]"], LinkClass(f"c{i}", rng.random(), rate), True, [a], [b], 1 + i % 2
        )
        for i, (a, b, rate) in enumerate(edges)
    ]
    node = [rank % 3 for rank in range(ranks)]
    names = [f"device[{i}]" for i in range(devices)]
    return listed("x", node, Links.assemble(*bundles), names, {}), edges


def best(edges: list[Edge], src: int, dst: int, most: int) -> tuple[int, float]:
    """Return fewest links from src to dst, and the most that their narrowest can have."""
    width = {src: float("inf")}
    for length in range(1, most + 1):
        ahead: dict[int, float] = {}
        for a, b, rate in edges:
            if a in width:
                ahead[b] = max(ahead.get(b, 0.0), min(width[a], rate))
        if dst in ahead:
            return length, ahead[dst]
        width = ahead
    raise AssertionError("not joined")


@pytest.mark.parametrize("seed", range(40))
def test_paths_are_short_then_wide(seed: int) -> None:
    """As a search over all walks finds them."""
    cluster, edges = graph(seed)
    for src in range(cluster.ranks):
        for dst in range(cluster.ranks):
            if src == dst:
                continue
            route = cluster.route(src, dst)
            assert edges[route[0]][0] == src
            assert edges[route[-1]][1] == dst
            assert all(edges[i][1] == edges[j][0] for i, j in pairwise(route))
            found = len(route), min(edges[i][2] for i in route)
            assert found == best(edges, src, dst, len(edges))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("nbytes", [0.0, 100.0])
def test_nothing_beats_their_bound(seed: int, nbytes: float) -> None:
    """Cuts count what can leave a group, with devices that are nearest to it or without."""
    cluster, _ = graph(seed)
    for kind in COLLECTIVES:
        for algorithm in algorithm_names(kind):
            if refusal(kind, algorithm, cluster.ranks, cluster.node) is None:
                schedule = build(kind, algorithm, cluster.ranks, node=cluster.node)
                least = lower_bound(schedule.collective, cluster, nbytes)
                time = simulate(schedule, cluster, nbytes).makespan
                assert time >= least * (1 - 1e-9), f"{kind}/{algorithm}"


def test_given_routes_in_a_call_with_others() -> None:
    """In the order of the pairs that were asked for."""
    wire = LinkClass("wire", 1.0, 1.0)
    ring = Links.assemble(Bundle(["a", "b", "c"], wire, True, [0, 1, 2], [1, 2, 0]))
    back = Links.assemble(Bundle(["a", "b", "c", "d"], wire, True, [0, 1, 2, 0], [1, 2, 0, 2]))
    assert listed("x", [0] * 3, ring, [], {}).route(0, 2) == (0, 1)
    cluster = listed("x", [0] * 3, back, [], {(0, 2): [0, 1], (2, 1): [2, 0]})
    ptr, link = cluster.router(np.array([1, 0, 2, 0]), np.array([2, 2, 1, 1]))
    assert (ptr.tolist(), link.tolist()) == ([0, 1, 3, 5, 6], [1, 0, 1, 2, 0, 0])


def test_pairs_that_nothing_joins() -> None:
    """The error names the first of them."""
    wire = LinkClass("wire", 1.0, 1.0)
    with pytest.raises(InputError, match="no links lead from rank 1 to rank 0"):
        listed("x", [0, 0], Links.assemble(Bundle(["a"], wire, True, [0], [1])), [], {})
