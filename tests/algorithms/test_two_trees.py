"""Two binary trees share the work: who forwards in one is a leaf in the other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.algorithms._two_trees import two_trees
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.core.setting import Setting
from collsim.engine.simulate import Simulation, simulate
from collsim.engine.verdict import verify_schedule
from collsim.topology.rails import join
from collsim.topology.switch import switch

RANKS = (*range(2, 34), 63, 64, 65, 72, 128)


@pytest.mark.parametrize("ranks", RANKS)
def test_both_trees_reach_everybody_and_nobody_forwards_in_both(ranks: int) -> None:
    """Each other rank has one parent per tree, and at most two children in all."""
    edges = two_trees(ranks)
    for tree in range(2):
        assert sorted(e.dst for e in edges if e.tree == tree) == list(range(1, ranks))
    assert max(Counter(e.src for e in edges).values()) <= 2
    forwards = [{e.src for e in edges if e.tree == tree} - {0} for tree in range(2)]
    assert not forwards[0] & forwards[1]


@pytest.mark.parametrize("ranks", RANKS)
def test_nobody_sends_or_receives_twice_in_a_round(ranks: int) -> None:
    """Even rounds and odd rounds; a child follows its parent."""
    edges = two_trees(ranks)
    for end in ("src", "dst"):
        uses = Counter((getattr(e, end), e.first % 2) for e in edges)
        assert max(uses.values()) == 1
    arrived = {(e.tree, e.dst): e.first for e in edges}
    assert all(e.first > arrived.get((e.tree, e.src), -1) for e in edges)


@pytest.mark.parametrize("name", ["broadcast", "reduce"])
@pytest.mark.parametrize("ranks", [2, 5, 7, 8, 13, 33, 64])
def test_every_round_takes_one_message(name: str, ranks: int) -> None:
    """No port is promised to a chunk while another could use it: 1 s a round."""
    for chunks in (1, 2, 7, 64):
        schedule = build(name, "double_binary_tree", ranks, 0, chunks)
        time = Simulation(schedule, Cluster.ideal(ranks, 1.0, 1e30)).makespan(0.0)
        assert time == pytest.approx(schedule.rounds, rel=1e-12)


@pytest.mark.parametrize("name", ["broadcast", "reduce"])
def test_large_messages_approach_full_bandwidth(name: str) -> None:
    """1,024 chunks on 8 ranks: 2 (2 + 1024) messages of n/2048, so 1.00195 n beta."""
    schedule = build(name, "double_binary_tree", 8, 3, 1024)
    time = Simulation(schedule, Cluster.ideal(8, 0.0, 1e9)).makespan(2**30)
    assert time / (2**30 / 1e9) == pytest.approx(2052 / 2048, rel=1e-9)


def fast_inside(nodes: int, gpus: int) -> Cluster:
    """Return nodes whose GPUs have a NIC of 1 byte per second each, and no latency."""
    near, far = LinkClass("near", 0.0, 1e6), LinkClass("far", 0.0, 1.0)
    return join(switch(gpus, near, "fast inside"), nodes, far)


def crossing(name: str, cluster: Cluster, channels: int) -> tuple[list[float], list[float]]:
    """Return the shares of n that every rank sends to, and receives from, other nodes."""
    schedule = build(
        name,
        "double_binary_tree",
        cluster.ranks,
        chunks=4,
        node=cluster.node,
        channels=channels,
    )
    across = cluster.node[schedule.src] != cluster.node[schedule.dst]
    share = schedule.fraction[across]
    return tuple(
        np.bincount(end[across], weights=share, minlength=cluster.ranks).tolist()
        for end in (schedule.src, schedule.dst)
    )


@pytest.mark.parametrize("gpus", [1, 2, 4, 8])
def test_two_nodes_cross_the_wire_once_in_each_direction(gpus: int) -> None:
    """A share of n/G per NIC, out and in; a broadcast one way."""
    cluster = fast_inside(2, gpus)
    share = 1 / gpus
    out, into = crossing("all_reduce", cluster, gpus)
    assert out == pytest.approx([share] * 2 * gpus)
    assert into == pytest.approx([share] * 2 * gpus)
    out, into = crossing("broadcast", cluster, gpus)
    assert out == pytest.approx([share] * gpus + [0.0] * gpus)
    assert into == pytest.approx([0.0] * gpus + [share] * gpus)


@pytest.mark.parametrize("nodes", [3, 4, 5, 8])
def test_nics_of_more_nodes_carry_at_most_twice_the_share(nodes: int) -> None:
    """Up to two children, and down again; no NIC carries more than another of its node."""
    out, into = crossing("all_reduce", fast_inside(nodes, 4), 4)
    for carried in (out, into):
        assert max(carried) == pytest.approx((2 if nodes > 3 else 1.5) / 4)
        for first in range(0, 4 * nodes, 4):
            assert carried[first : first + 4] == pytest.approx([carried[first]] * 4)


def test_two_nodes_beat_the_ring() -> None:
    """n/G per NIC, up and down at once, against 2(P-1)/P of it: 8 GPUs take 4 s, not 7."""
    cluster = fast_inside(2, 4)

    def seconds(name: str, chunks: int) -> float:
        schedule = build("all_reduce", name, 8, chunks=chunks, node=cluster.node, channels=4)
        return simulate(schedule, cluster, 16.0).makespan

    assert seconds("ring", 1) == pytest.approx(7.0, rel=1e-4)
    assert seconds("double_binary_tree", 256) == pytest.approx(4.0, rel=1e-2)


@pytest.mark.parametrize("nodes", [4, 8])
def test_more_nodes_of_one_gpu_lose_to_the_ring(nodes: int) -> None:
    """2n through the busiest NIC against 2(P-1)/P n: at large sizes, by P/(P-1)."""
    cluster = fast_inside(nodes, 1)
    tree, ring = (
        simulate(
            build("all_reduce", name, nodes, chunks=chunks, node=cluster.node), cluster, 1e6
        ).makespan
        for name, chunks in (("double_binary_tree", 1024), ("ring", 1))
    )
    assert ring == pytest.approx(2e6 * (nodes - 1) / nodes)
    assert tree / ring == pytest.approx(nodes / (nodes - 1), rel=0.02)


@pytest.mark.parametrize("name", ["broadcast", "reduce", "all_reduce"])
def test_trees_over_nodes_are_right(name: str) -> None:
    """Even nodes and uneven ones, dealt out too, in as many channels as all have GPUs."""
    for node in (
        [0, 0, 1, 1],
        [0, 1, 2, 0, 1, 2],
        [0, 0, 0, 1, 1, 2, 2, 2, 2],
        [0, 1, 1, 1],
        [1, 0],
    ):
        setting = Setting(len(node), node)
        for channels in {1, setting.fewest}:
            for root in {0, 1, len(node) - 1} if name != "all_reduce" else {0}:
                for chunks in (1, 3):
                    schedule = build(
                        *(name, "double_binary_tree", len(node), root, chunks),
                        node=node,
                        channels=channels,
                    )
                    verdict = verify_schedule(schedule)
                    assert verdict.ok, (node, channels, root, chunks, verdict.reason)
