"""Which links a schedule's messages cross."""

from __future__ import annotations

from dataclasses import replace

from collsim.algorithms import build
from collsim.choose.crossed import crossed_links
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.topology import with_local


def names(cluster: Cluster, found: set[int]) -> set[str]:
    """Return the names of links."""
    return {cluster.links.names[i] for i in found}


def test_a_ring_leaves_each_node_once() -> None:
    """By the NIC of its last rank, and comes in by that of its first."""
    two = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    crossed = names(two, crossed_links(build("all_gather", "ring", 4), two))
    assert {name for name in crossed if "nic" in name} == {
        "nic[1].up", "nic[3].up", "nic[0].down", "nic[2].down",
    }  # fmt: skip


def test_one_rank_crosses_nothing_but_its_memory() -> None:
    """Messages to itself count where they have a link."""
    one = Cluster.load("dgx-h100", ranks=1)
    schedule = build("all_to_all", "ring", 1)
    assert crossed_links(schedule, one) == set()
    two = Cluster.load("dgx-h100", ranks=2)
    slow = with_local(two, LinkClass("hbm", 0.0, 1e12))
    looped = build("all_to_all", "linear", 2)
    own = bool((looped.src == looped.dst).any())
    assert (
        crossed_links(looped, slow) > crossed_links(looped, replace(slow, local=None))
    ) == own
