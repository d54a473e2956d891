"""Switches that take part, in every network, and after every change to a cluster."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.topology import (
    degrade,
    fail,
    fat_tree,
    first_ranks,
    rails,
    reorder,
    star,
    with_local,
)
from collsim.topology.switch import switch

NEAR, FAR = LinkClass("near", 1e-6, 4e9), LinkClass("far", 5e-6, 1e9)


def node(gpus: int = 3, multicast: bool = True) -> Cluster:
    """Return GPUs on a switch."""
    return switch(gpus, NEAR, "node", multicast=multicast, multicast_efficiency=0.85)


def ways(cluster: Cluster) -> list[tuple[str, str]]:
    """Return the names of the links of every rank, up and down."""
    inside = cluster.in_switch
    assert inside is not None
    names = cluster.links.names
    return [(names[up], names[down]) for up, down in zip(inside.up, inside.down, strict=True)]


def named(*gpus: int) -> list[tuple[str, str]]:
    """Return what these are called on some GPUs."""
    return [(f"gpu[{gpu}].up", f"gpu[{gpu}].down") for gpu in gpus]


def test_every_gpu_reaches_the_switch_of_its_node() -> None:
    """Over the link that it has to all others; the switch of node 0 is number P."""
    one = node()
    assert ways(one) == named(0, 1, 2)
    assert one.setting.multicast
    assert [one.links.names[i] for i in (*one.route(1, 3), *one.route(3, 2))] == [
        "gpu[1].up",
        "gpu[2].down",
    ]


def test_other_switches_take_no_part() -> None:
    """An ideal network has none, and one may be without."""
    for cluster in (node(multicast=False), Cluster.ideal(4, 1e-6, 1e9)):
        assert cluster.in_switch is None
        assert not cluster.setting.multicast


@pytest.mark.parametrize(
    "cluster",
    [
        rails.join(node(), 2, FAR),
        rails.join(node(), 2, FAR, nics=1, oversubscription=2.0),
        star.join(node(), 2, FAR),
        fat_tree.join(node(), 2, FAR, 1),
        rails.join(with_local(node(), NEAR), 2, FAR),
    ],
    ids=lambda cluster: cluster.shape,
)
def test_networks_keep_the_switches_of_their_nodes(cluster: Cluster) -> None:
    """Two nodes of three: GPU 4 is the second of node 1, whose switch is number 7."""
    assert ways(cluster) == named(*range(6))
    assert cluster.in_switch is not None
    assert cluster.in_switch.efficiency == 0.85
    assert [cluster.links.names[i] for i in cluster.route(4, 7)] == ["gpu[4].up"]
    assert cluster.setting.agents.tolist() == [6, 7]


def test_a_job_on_some_of_the_gpus_has_the_switch_too() -> None:
    """It is number 2 beside two ranks."""
    two = first_ranks(node(), 2)
    assert ways(two) == named(0, 1)
    assert [two.links.names[i] for i in two.route(2, 1)] == ["gpu[1].down"]


def test_ranks_in_another_order_keep_their_gpus_links() -> None:
    """Rank 1 on GPU 3, the first of node 1."""
    dealt = reorder(rails.join(node(), 2, FAR), "across")
    assert ways(dealt) == named(0, 3, 1, 4, 2, 5)
    assert dealt.node.tolist() == [0, 1] * 3


def test_a_slower_link_is_slower_for_the_switch_as_well() -> None:
    """It is the same cable."""
    slow = degrade(rails.join(node(), 2, FAR), "gpu[4].up", 0.5)
    assert slow.in_switch is not None
    assert slow.links.beta[slow.in_switch.up].tolist() == [2.5e-10] * 4 + [5e-10, 2.5e-10]


def test_without_one_of_its_links_a_switch_takes_no_part() -> None:
    """No other way leads there; a broken NIC leaves it alone."""
    pair = rails.join(node(), 2, FAR)
    assert fail(pair, "nic[3]").setting.multicast
    hurt = fail(pair, "gpu[4].up")
    assert hurt.in_switch is None
    assert np.array_equal(hurt.node, pair.node)
