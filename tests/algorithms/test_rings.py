"""Rings in channels: every NIC of a node is busy, in hand-worked times."""

from __future__ import annotations

import pytest

from collsim.algorithms import build
from collsim.algorithms._rings import ring_order
from collsim.choose.curve import Curve
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.core.setting import Setting
from collsim.engine.simulate import simulate
from collsim.topology.rails import join
from collsim.topology.switch import switch


def fast_inside(nodes: int) -> Cluster:
    """Return nodes of four GPUs, each with a NIC of 1 byte per second and no latency."""
    near = LinkClass("near", 0.0, 100.0)
    return join(switch(4, near, "fast inside"), nodes, LinkClass("far", 0.0, 1.0))


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_every_channel_enters_and_leaves_nodes_by_its_own_gpu(nodes: int) -> None:
    """Of four rings over nodes of four GPUs, none shares a NIC with another, either way."""
    setting = Setting(4 * nodes, [rank // 4 for rank in range(4 * nodes)])
    ways = set()
    for channel in range(4):
        order = ring_order(setting, channel, 4).tolist()
        assert sorted(order) == list(range(4 * nodes))
        around = zip(order, order[1:] + order[:1], strict=True)
        crossing = [(src, dst) for src, dst in around if src // 4 != dst // 4]
        assert len(crossing) == nodes
        ways |= {("out", src) for src, _ in crossing} | {("in", dst) for _, dst in crossing}
    assert len(ways) == 2 * 4 * nodes


@pytest.mark.parametrize("nodes", [2, 4])
def test_crossings_stay_on_their_rail(nodes: int) -> None:
    """GPU i of a node sends to GPU i of the next; no spine is passed."""
    setting = Setting(4 * nodes, [rank // 4 for rank in range(4 * nodes)])
    for channel in range(4):
        order = ring_order(setting, channel, 4).tolist()
        for src, dst in zip(order, order[1:] + order[:1], strict=True):
            assert src // 4 == dst // 4 or src % 4 == dst % 4


@pytest.mark.parametrize(("nodes", "one", "four"), [(2, 14.0, 3.5), (4, 30.0, 7.5)])
def test_time_of_all_reduce(nodes: int, one: float, four: float) -> None:
    """8 bytes: 2(P-1) steps of 8/P bytes through one NIC, or of a quarter through each."""
    cluster, nbytes = fast_inside(nodes), 8.0 * nodes / 2
    times = [
        simulate(
            build("all_reduce", "ring", cluster.ranks, node=cluster.node, channels=channels),
            cluster,
            nbytes,
        ).makespan
        for channels in (1, 4)
    ]
    assert times == pytest.approx([one, four], rel=1e-9)


def test_bus_bandwidth_approaches_that_of_all_nics() -> None:
    """Eight of 50 GB/s; a ring in one channel has one of them."""
    for nodes in (2, 4):
        curve = Curve("all_reduce", "ring", Cluster.load("dgx-h100", nodes=nodes))
        ranks, nbytes = 8 * nodes, 2.0**34
        busbw = [
            nbytes / curve.simulation(1, channels).makespan(nbytes) * 2 * (ranks - 1) / ranks
            for channels in (1, 8)
        ]
        assert 0.99 * 50e9 < busbw[0] < 50e9
        assert 0.98 * 400e9 < busbw[1] < 400e9
        assert curve.at(nbytes).channels == 8
        assert curve.at(1024).channels == 1
