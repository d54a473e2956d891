"""Algorithms over switches that add up and multicast: what is known of NVLink SHARP."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import build, refusal
from collsim.choose.curve import Curve
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.engine.simulate import simulate
from collsim.engine.usage import usage
from collsim.engine.verdict import verify_schedule
from collsim.topology.rails import join
from collsim.topology.switch import switch

NEAR, FAR = LinkClass("near", 1e-6, 400e9), LinkClass("far", 1e-6, 50e9)
TIB = 2.0**40


@pytest.mark.parametrize("chunks", [1, 4])
@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_nvls_moves_n_and_one_part_each_way(ranks: int, chunks: int) -> None:
    """n(P+1)/P over every link, up and down: NVLink SHARP reads and writes all members."""
    cluster = switch(ranks, NEAR, "node", multicast=True, multicast_efficiency=0.85)
    schedule = build("all_reduce", "nvls", ranks, 0, chunks, multicast=True)
    moved = usage(simulate(schedule, cluster, 1e6), cluster).nbytes
    assert moved == pytest.approx([1e6 * (ranks + 1) / ranks] * (2 * ranks), rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "name", "up", "down"),
    [
        ("all_gather", "nvls", [0.25] * 4, [1.0] * 4),
        ("reduce_scatter", "nvls", [1.0] * 4, [0.25] * 4),
        ("broadcast", "multicast", [1.0, 0, 0, 0], [1.0] * 4),
        ("reduce", "nvls", [1.0] * 4, [1.0, 0, 0, 0]),
    ],
)
def test_what_the_others_move(kind: str, name: str, up: list[float], down: list[float]) -> None:
    """Of n bytes on four ranks; what is multicast comes back to its sender, too."""
    cluster = switch(4, NEAR, "node", multicast=True)
    moved = usage(simulate(build(kind, name, 4, multicast=True), cluster, 1e6), cluster).nbytes
    assert moved / 1e6 == pytest.approx([*up, *down], rel=1e-9)


@pytest.mark.parametrize(
    ("ranks", "most", "least"), [(4, 1.02, 1.015), (5, 1.134, 1.128), (8, 1.323, 1.315)]
)
def test_gain_over_ring_at_the_efficiency_of_hopper(
    ranks: int, most: float, least: float
) -> None:
    """At most 2 % at 4 GPUs, 13 % at 5, about 30 % at 8: 2(P-1)/(P+1) times 0.85."""
    cluster = Cluster.load("dgx-h100", ranks=ranks)
    ring, nvls = (Curve("all_reduce", name, cluster) for name in ("ring", "nvls"))
    assert most == pytest.approx(0.85 * 2 * (ranks - 1) / (ranks + 1), rel=1e-3)
    for size in (2.0**30, 2.0**33, 2.0**36):
        assert ring.seconds(size) / nvls.seconds(size) < most
    assert least < ring.seconds(TIB) / nvls.seconds(TIB) < most


def test_nvls_tree_crosses_the_wire_once_on_two_nodes() -> None:
    """n/G out of every NIC and n/G into it, and n(G+1)/G between every GPU and its switch."""
    cluster = join(switch(4, NEAR, "pair", multicast=True), 2, FAR)
    schedule = build("all_reduce", "nvls_tree", 8, 0, 4, node=cluster.node, multicast=True)
    moved = usage(simulate(schedule, cluster, 1e6), cluster)
    of = dict(zip(moved.names, (moved.nbytes / 1e6).tolist(), strict=True))
    assert [of[f"nic[{r}].{way}"] for r in range(8) for way in ("up", "down")] == pytest.approx(
        [0.25] * 16
    )
    assert [of[f"gpu[{r}].{way}"] for r in range(8) for way in ("up", "down")] == pytest.approx(
        [1.25] * 16
    )


def test_nvls_tree_overlaps_what_is_inside_with_what_is_across() -> None:
    """On two nodes of 8 H100 in many chunks it nears what the switch alone takes."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    tree = Curve("all_reduce", "nvls_tree", cluster)
    alone = 9 / 8 * 2.0**36 / (0.85 * 450e9)
    assert 1 < tree.seconds(2.0**36) / alone < 1.03


@pytest.mark.parametrize("node", [[0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1], [0, 1, 2, 2, 1, 0]])
@pytest.mark.parametrize("chunks", [1, 3])
def test_nvls_tree_is_right_however_ranks_are_placed(node: list[int], chunks: int) -> None:
    """Each rank uses the switch of its node."""
    schedule = build("all_reduce", "nvls_tree", 6, 0, chunks, node=node, multicast=True)
    assert schedule.agents == len(set(node))
    assert verify_schedule(schedule).reason == ""


CANT = "needs switches that add up and multicast, which {} can't"
SEVERAL = (
    "runs on the switch of one node, got 2 nodes; in-network reduction across nodes is not "
    "modelled"
)
ONE = "all ranks are on one node, so there is no step across nodes"
UNEVEN = "nodes have different numbers of ranks, so some rank has no partner on each node"


@pytest.mark.parametrize(
    ("name", "node", "multicast", "reason"),
    [
        ("nvls", [0] * 4, False, CANT.format("that of the node")),
        ("nvls", [0, 0, 1, 1], True, SEVERAL),
        ("nvls_tree", [0] * 4, True, ONE),
        ("nvls_tree", [0, 0, 1, 1], False, CANT.format("those of the nodes")),
        ("nvls_tree", [0, 0, 0, 1], True, UNEVEN),
    ],
)
def test_where_it_cannot_run_it_says_why(
    name: str, node: list[int], multicast: bool, reason: str
) -> None:
    """In one line."""
    found = refusal("all_reduce", name, 4, np.array(node), multicast)
    assert found == f"all_reduce/{name}: {reason}"
