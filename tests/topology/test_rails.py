"""Nodes joined by one NIC per GPU."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.topology.rails import join
from collsim.topology.switch import switch

NEAR, FAR = LinkClass("near", 1.0, 4.0, 0.5), LinkClass("far", 2.0, 1.0, 0.25)


def route(cluster: Cluster, src: int, dst: int) -> list[str]:
    """Return the names of the links on a route."""
    return [cluster.links.names[i] for i in cluster.route(src, dst)]


def test_inside_a_node_routes_go_over_its_switch() -> None:
    """Ranks 2 and 3 are the second node."""
    assert route(join(switch(2, NEAR, "pair"), 2, FAR), 2, 3) == ["gpu[2].up", "gpu[3].down"]


@pytest.mark.parametrize("dst", [2, 3])
def test_between_nodes_routes_go_from_nic_to_nic(dst: int) -> None:
    """On the sender's rail or to another one."""
    assert route(join(switch(2, NEAR, "pair"), 2, FAR), 0, dst) == [
        "nic[0].up",
        f"nic[{dst}].down",
    ]


def test_many_routes_at_once_are_those_one_by_one() -> None:
    """All 30 pairs of 3 nodes of 2."""
    cluster = join(switch(2, NEAR, "six"), 3, FAR)
    src, dst = (end[np.arange(36) % 7 != 0] for end in np.divmod(np.arange(36), 6))
    ptr, link = cluster.router(src, dst)
    many = [tuple(link[i:j].tolist()) for i, j in pairwise(ptr)]
    assert many == [cluster.route(int(s), int(d)) for s, d in zip(src, dst, strict=True)]


def test_cuts_are_ranks_with_both_their_links_and_nodes_with_all_their_nics() -> None:
    """A rank sends 4 + 1 bytes a second, a node of two 2."""
    rank, node = join(switch(2, NEAR, "six"), 3, FAR).cuts
    assert (rank.group.tolist(), rank.out_rate, rank.in_rate) == ([0, 1, 2, 3, 4, 5], 5.0, 5.0)
    assert (node.group.tolist(), node.out_rate, node.in_rate) == ([0, 0, 1, 1, 2, 2], 2.0, 2.0)


@pytest.mark.parametrize(
    ("nodes", "gpus", "alpha", "busy", "ways"),
    [(2, 2, 1.0, 0.25, 2), (1, 2, 1.0, 0.5, 1), (2, 1, 2.0, 0.25, 1)],
)
def test_only_links_that_are_used_count(
    nodes: int, gpus: int, alpha: float, busy: float, ways: int
) -> None:
    """One node has no way out, a single GPU no switch."""
    cluster = join(switch(gpus, NEAR, "some"), nodes, FAR)
    assert (cluster.least_alpha, cluster.least_busy, cluster.ways) == (alpha, busy, ways)


def test_nodes_are_numbered_and_formulas_don_t_hold() -> None:
    """Links differ."""
    cluster = join(switch(3, NEAR, "pair"), 2, FAR)
    assert cluster.node.tolist() == [0, 0, 0, 1, 1, 1]
    assert cluster.nodes == 2
    assert cluster.uniform is None
