"""The least alpha across each cut: no route that crosses it pays less."""

from __future__ import annotations

import random

import numpy as np
import pytest

from collsim.core.cluster import Cluster, Cut
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.link import Bundle, LinkClass, Links
from collsim.engine.bound import bound
from collsim.errors import InputError
from collsim.topology import degrade, fail, fat_tree, first_ranks, rails, reorder, star
from collsim.topology._listed import listed
from collsim.topology.full_mesh import full_mesh
from collsim.topology.hybrid_cube_mesh import hybrid_cube_mesh
from collsim.topology.pcie_tree import pcie_tree
from collsim.topology.switch import switch

NEAR, HALF, FAR = (
    LinkClass("near", 3.0, 4.0),
    LinkClass("half", 0.5, 3.0),
    LinkClass("far", 14.0, 1.0),
)
FAST = LinkClass("fast", 1.0, 1.0)


def crossing(cluster: Cluster, cut: Cut) -> float:
    """Return the least alpha of all routes from group to group."""
    src, dst = np.divmod(np.arange(cluster.ranks**2), cluster.ranks)
    away = cut.group[src] != cut.group[dst]
    ptr, link = cluster.router(src[away], dst[away])
    return float(np.add.reduceat(cluster.links.alpha[link], ptr[:-1]).min())


NODES = {
    "switch": switch(4, NEAR, "x"),
    "multicast": switch(4, NEAR, "x", multicast=True),
    "mesh": full_mesh(3, NEAR, "x"),
    "cube": hybrid_cube_mesh(NEAR, "x"),
    "pcie": pcie_tree(
        *(8, NEAR, "x"),
        gpus_per_switch=2, switches_per_bridge=2, bridges_per_socket=1, socket=HALF,
    ),
    "alone": full_mesh(1, NEAR, "x"),
}  # fmt: skip
WHOLE = NODES | {
    f"{name}, {network}, {far.name}": cluster
    for name, node in NODES.items()
    for far in (FAR, FAST)
    for network, cluster in {
        "rails": rails.join(node, 3, far),
        "one NIC": star.join(node, 2, far, nics=1),
        "over": rails.join(node, 3, far, oversubscription=2.5),
        "one node": rails.join(node, 1, far),
        "fat tree": fat_tree.join(node, 3, far, 2, oversubscription=2.0),
        "pods": fat_tree.join(
            *(node, 5, far, 1),
            leaves_per_pod=2, pod_oversubscription=1.5, trunk_link=HALF,
        ),
    }.items()
}  # fmt: skip
every = pytest.mark.parametrize("name", WHOLE)


def check(cluster: Cluster) -> None:
    """Assert that no route across a cut is cheaper."""
    for cut in cluster.cuts:
        if len(set(cut.group.tolist())) > 1:
            assert cut.least_alpha <= crossing(cluster, cut) * (1 + 1e-12), cut.name


@every
def test_no_route_across_a_cut_is_cheaper(name: str) -> None:
    """Between nodes it is what the nearest two pay."""
    cluster = WHOLE[name]
    check(cluster)
    for cut in cluster.cuts:
        if cut.name == "node" and cluster.nodes > 1:
            assert cut.least_alpha == crossing(cluster, cut)


@every
def test_changed_clusters_too(name: str) -> None:
    """Degraded, broken, dealt out, and in part."""
    rng = random.Random(name)
    for _ in range(6):
        cluster = first_ranks(WHOLE[name], rng.randint(1, WHOLE[name].ranks))
        order = list(range(cluster.ranks))
        rng.shuffle(order)
        placed = rng.random() < 0.5
        if placed:
            cluster = reorder(cluster, order)
        names = [n.split(">")[0].split(".")[0] for n in cluster.links.names]
        for _ in range(rng.randint(1, 3) if names else 0):
            try:
                part, slow = rng.choice(names), rng.random() < 0.5
                cluster = degrade(cluster, part, 0.5) if slow else fail(cluster, part)
            except InputError:  # Somebody can no longer be reached.
                continue
        check(cluster if placed else reorder(cluster, order))


@pytest.mark.parametrize("kind", COLLECTIVES)
def test_small_messages_reach_other_nodes(kind: str) -> None:
    """Inside a node 3 s, to the next one 14 s: no collective is done before."""
    pair = rails.join(NODES["switch"], 2, FAR)
    assert bound(collective(kind), pair).latency == 14.0
    assert bound(collective(kind), first_ranks(pair, 4)).latency <= 6.0


def test_many_ranks_near_each_other_still_count() -> None:
    """Where the network is the faster, news of 12 ranks take four rounds or more of 1 s."""
    many = rails.join(NODES["switch"], 3, FAST)
    assert bound(collective("broadcast"), many).latency == 3.0
    assert bound(collective("sendrecv"), many).latency == 1.0


def test_links_that_are_listed() -> None:
    """Two pairs: 1 s inside, 5 s from rank 1 to rank 2, so 6 s from rank 0."""
    near, far = LinkClass("near", 1.0, 1.0), LinkClass("far", 5.0, 1.0)
    links = Links.assemble(
        Bundle(["a", "b", "c", "d"], near, True, [0, 1, 2, 3], [1, 0, 3, 2]),
        Bundle(["e", "f"], far, True, [1, 2], [2, 1]),
    )
    pairs = listed("pairs", [0, 0, 1, 1], links, [], {})
    check(pairs)
    assert [(cut.name, cut.least_alpha) for cut in pairs.cuts] == [("rank", 0.0), ("node", 5.0)]
    assert bound(collective("sendrecv"), pairs).latency == 5.0
