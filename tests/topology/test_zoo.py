"""What holds on every shape: routes, names, cuts, and the lower bound."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.core.link import LinkClass
from collsim.engine.bound import lower_bound
from collsim.engine.simulate import Simulation
from collsim.topology import fat_tree, first_ranks, rails, star
from collsim.topology._node import with_local
from collsim.topology.full_mesh import full_mesh
from collsim.topology.hybrid_cube_mesh import hybrid_cube_mesh
from collsim.topology.pcie_tree import pcie_tree
from collsim.topology.ring import ring
from collsim.topology.switch import switch
from collsim.topology.torus import torus

NEAR, HALF, FAR = (
    LinkClass("near", 1.0, 4.0, 0.5),
    LinkClass("half", 0.5, 3.0, 0.0),
    LinkClass("far", 2.0, 1.0, 0.25),
)
FULL = LinkClass("near", 1.0, 4.0)

NODES = {
    "switch": switch(4, NEAR, "x"),
    "full_mesh": full_mesh(4, NEAR, "x"),
    "full_mesh lanes": full_mesh(3, NEAR, "x", lanes=2, width=3),
    "cube": hybrid_cube_mesh(FULL, "x"),
    "half cube": hybrid_cube_mesh(NEAR, "x", gpus=6),
    "pcie": pcie_tree(7, NEAR, "x", gpus_per_switch=2, switches_per_bridge=2, socket=HALF),
    "pcie dear": pcie_tree(
        *(8, FULL, "x"),
        gpus_per_switch=1, switches_per_bridge=2, bridges_per_socket=2,
        uplink=HALF, bridge=FAR, socket=HALF,
    ),
    "ring": ring(5, NEAR, "x"),
    "torus": torus((3, 2), NEAR, "x"),
    "torus 3d": torus((2, 3, 3), FULL, "x"),
    "alone": full_mesh(1, NEAR, "x"),
    "pair": ring(2, FULL, "x"),
}  # fmt: skip
JOINED = {
    f"{name}, {network}": cluster
    for name, node in NODES.items()
    if name in {"switch", "cube", "pcie", "alone", "pair", "full_mesh lanes"}
    for network, cluster in {
        "rails": rails.join(node, 3, FAR),
        "one NIC": star.join(node, 2, FAR, nics=1),
        "two NICs each": rails.join(node, 2, FAR, nics=2 * node.ranks),
        "oversubscribed rails": rails.join(node, 3, FAR, oversubscription=2.5),
        "fat tree": fat_tree.join(node, 3, FAR, 2, oversubscription=2.0),
        "pods": fat_tree.join(
            node, 5, FAR, 1, leaves_per_pod=2, pod_oversubscription=1.5, trunk_link=HALF
        ),
    }.items()
}
PARTS = {
    "part of a cube": first_ranks(NODES["cube"], 3),
    "part of pods": first_ranks(JOINED["switch, pods"], 13),
    "memory": with_local(NODES["switch"], HALF),
    "memories": rails.join(with_local(NODES["pcie"], HALF), 2, FAR, nics=3),
}
ZOO = NODES | JOINED | PARTS
every = pytest.mark.parametrize("name", ZOO)


def pairs(cluster: Cluster) -> tuple[np.ndarray, np.ndarray]:
    """Return all ordered pairs of different ranks."""
    src, dst = np.divmod(np.arange(cluster.ranks**2), cluster.ranks)
    return src[src != dst], dst[src != dst]


@every
def test_routes_at_once_are_those_one_by_one(name: str) -> None:
    """All pairs in one call."""
    cluster = ZOO[name]
    src, dst = pairs(cluster)
    ptr, link = cluster.router(src, dst)
    many = [tuple(link[i:j].tolist()) for i, j in pairwise(ptr.tolist())]
    assert many == [
        cluster.route(a, b) for a, b in zip(src.tolist(), dst.tolist(), strict=True)
    ]
    assert all(many)


@every
def test_routes_are_walks(name: str) -> None:
    """From GPU to GPU, each link begins where the one before ended.

    The one exception are leaf switches of rails, which meet in a spine that never blocks.
    """
    cluster = ZOO[name]
    tail, head = cluster.links.tail, cluster.links.head
    assert tail is not None
    assert head is not None
    for src, dst in zip(*(end.tolist() for end in pairs(cluster)), strict=True):
        route = cluster.route(src, dst)
        assert (tail[route[0]], head[route[-1]]) == (src, dst)
        for one, two in pairwise(route):
            if head[one] != tail[two]:
                met = {cluster.vertex(int(v)).split("[")[0] for v in (head[one], tail[two])}
                assert met == {"leaf"}
                assert not any("spine" in device for device in cluster.devices)


@every
def test_links_and_devices_have_names_of_their_own(name: str) -> None:
    """Every vertex is a GPU or a device, and every device has a link."""
    cluster = ZOO[name]
    assert len(set(cluster.links.names)) == len(cluster.links)
    assert len(set(cluster.devices)) == len(cluster.devices)
    ends = np.concatenate([cluster.links.tail, cluster.links.head])
    assert set(ends.tolist()) <= set(range(cluster.ranks + len(cluster.devices)))


@every
def test_routers_can_be_sent_to_another_process(name: str) -> None:
    """A pickled cluster routes as the original does."""
    cluster = ZOO[name]
    copy = pickle.loads(pickle.dumps(cluster))
    src, dst = pairs(cluster)
    for one, two in zip(cluster.router(src, dst), copy.router(src, dst), strict=True):
        assert one.tolist() == two.tolist()


@every
def test_the_least_alpha_and_the_ways_are_those_of_the_routes(name: str) -> None:
    """No route is cheaper, and no rank begins more messages at once."""
    cluster = ZOO[name]
    src, dst = pairs(cluster)
    if src.size == 0:
        return
    ptr, link = cluster.router(src, dst)
    alpha, busy = (
        np.add.reduceat(cost[link], ptr[:-1])
        for cost in (cluster.links.alpha, cluster.links.busy)
    )
    assert alpha.min() >= cluster.least_alpha
    assert busy.min() >= cluster.least_busy
    if name not in PARTS:
        assert alpha.min() == cluster.least_alpha
    last = [k[cluster.links.lanes[k] > 0] for k in np.split(link, ptr[1:-1])]
    for end, pick in ((src, 0), (dst, -1)):
        for rank in range(cluster.ranks):
            used = {int(k[pick]) for k, mine in zip(last, end == rank, strict=True) if mine}
            assert sum(cluster.links.lanes[list(used)]) <= cluster.ways


@every
@pytest.mark.parametrize("nbytes", [0.0, 1.0, 500.0])
def test_nothing_beats_the_lower_bound(name: str, nbytes: float) -> None:
    """Every algorithm of every collective."""
    cluster = ZOO[name]
    for kind in COLLECTIVES:
        for algorithm in algorithm_names(kind):
            can = cluster.setting.multicast
            if refusal(kind, algorithm, cluster.ranks, cluster.node, can) is not None:
                continue
            schedule = build(kind, algorithm, cluster.ranks, node=cluster.node, multicast=can)
            least = lower_bound(schedule.collective, cluster, nbytes)
            time = Simulation(schedule, cluster).makespan(nbytes)
            assert time >= least * (1 - 1e-9), f"{kind}/{algorithm}"


@every
@pytest.mark.parametrize("nbytes", [0.0, 60.0])
def test_where_formulas_are_said_to_hold_they_do(name: str, nbytes: float) -> None:
    """`uniform` is a promise."""
    cluster = ZOO[name]
    if cluster.uniform is None:
        return
    for kind in COLLECTIVES:
        for algorithm in algorithm_names(kind):
            if refusal(kind, algorithm, cluster.ranks) is not None:
                continue
            terms = find(kind, algorithm).terms(cluster.ranks, 1)
            if terms is None or not terms.holds(cluster.gamma):
                continue
            time = Simulation(build(kind, algorithm, cluster.ranks), cluster).makespan(nbytes)
            formula = terms.seconds(nbytes, *cluster.uniform, cluster.gamma)
            assert time == pytest.approx(formula, rel=1e-9), f"{kind}/{algorithm}"
