"""Links that several ranks share: uplinks, trunks, bridges and NICs, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.link import LinkClass
from collsim.core.schedule import Schedule
from collsim.engine.simulate import simulate
from collsim.errors import InputError
from collsim.topology import fat_tree, rails, star
from collsim.topology.pcie_tree import pcie_tree
from collsim.topology.switch import switch

WIRE = LinkClass("wire", 0.0, 1.0)


def messages(ranks: int, pairs: list[tuple[int, int]]) -> Schedule:
    """Return one message per pair, all at once, each of n/P bytes."""
    builder = Builder(collective("all_to_all"), ranks)
    builder.next_round()
    for src, dst in pairs:
        builder.copy(src, dst, builder.pieces[src * ranks + dst])
    return builder.finish()


def lone_gpus(count: int, per_leaf: int, oversubscription: float = 1.0) -> Cluster:
    """Return nodes of one GPU in a fat tree."""
    return fat_tree.join(
        switch(1, WIRE, "x"), count, WIRE, per_leaf, oversubscription=oversubscription
    )


def busy(cluster: Cluster, schedule: Schedule, name: str) -> float:
    """Return the lane-seconds, at one byte a piece, for which a link is held by bytes."""
    link = cluster.links.names.index(name)
    moved = sum(
        schedule.carried(i).size
        for i in range(len(schedule))
        if link in cluster.route(int(schedule.src[i]), int(schedule.dst[i]))
    )
    return float(moved * cluster.links.beta[link] / cluster.links.lanes[link])


def test_three_gpus_behind_one_bridge_take_turns() -> None:
    """Each of three sends 1 byte out from under its switch: 1, 2 and 3 seconds."""
    box = pcie_tree(6, WIRE, "box", gpus_per_switch=3, switches_per_bridge=2)
    schedule = messages(6, [(0, 3), (1, 4), (2, 5)])
    assert simulate(schedule, box, 6.0).finish.tolist() == [1.0, 2.0, 3.0]


def test_gpus_under_one_switch_do_not_climb() -> None:
    """Peers on the same switch leave its uplink alone."""
    box = pcie_tree(6, WIRE, "box", gpus_per_switch=3, switches_per_bridge=2)
    schedule = messages(6, [(0, 1), (1, 2), (2, 3)])
    assert simulate(schedule, box, 6.0).finish.tolist() == [1.0, 1.0, 1.0]


def test_each_level_is_climbed_only_as_far_as_needed() -> None:
    """Two GPUs to a switch, two switches to a bridge, two bridges to a socket, two sockets."""
    slow = LinkClass("slow", 0.5, 0.5)
    box = pcie_tree(
        16, WIRE, "box",
        gpus_per_switch=2, switches_per_bridge=2, bridges_per_socket=2, socket=slow,
    )  # fmt: skip
    names = {dst: [box.links.names[i] for i in box.route(0, dst)] for dst in (1, 2, 4, 8)}
    assert names[1] == ["gpu[0].up", "gpu[1].down"]
    assert names[2] == ["gpu[0].up", "switch[0].up", "switch[1].down", "gpu[2].down"]
    assert names[4] == [
        *("gpu[0].up", "switch[0].up", "bridge[0].up"),
        *("bridge[1].down", "switch[2].down", "gpu[4].down"),
    ]
    assert names[8][2:5] == ["bridge[0].up", "socket[0]>socket[1]", "bridge[2].down"]
    assert [(cut.name, cut.out_rate) for cut in box.cuts] == [
        *(("rank", 1.0), ("switch", 1.0), ("bridge", 1.0), ("socket", 0.5)),
    ]


@pytest.mark.parametrize("nics", [1, 2, 3, 8])
def test_k_nics_into_a_trunk_of_k_lanes(nics: int) -> None:
    """The makespan is that of one NIC."""
    tree = lone_gpus(2 * nics, nics)
    schedule = messages(2 * nics, [(i, nics + i) for i in range(nics)])
    assert simulate(schedule, tree, 2.0 * nics).makespan == 1.0
    assert tree.links.lanes[tree.links.names.index("leaf[0].up")] == nics


@pytest.mark.parametrize(
    ("oversubscription", "lanes"), [(1, 4), (2, 2), (3, 1), (4, 1), (8, 1)]
)
def test_oversubscription_multiplies_the_busy_time_of_the_uplinks(
    oversubscription: float, lanes: int
) -> None:
    """Exactly: 16 messages leave each leaf of four, over a capacity of 4 / r."""
    tree = lone_gpus(8, 4, oversubscription)
    schedule = build("all_to_all", "ring", 8)
    assert busy(tree, schedule, "leaf[0].up") == oversubscription * 4.0
    assert tree.links.lanes[tree.links.names.index("leaf[0].up")] == lanes
    assert busy(tree, schedule, "nic[0].up") == 7.0


def test_two_to_one_oversubscription_of_two_leaves_of_four() -> None:
    """Under fair sharing direct all_to_all grows from 7/8 n beta to n beta."""
    schedule = build("all_to_all", "ring", 8)
    times = []
    for oversubscription in (1.0, 2.0):
        tree = lone_gpus(8, 4, oversubscription)
        object.__setattr__(tree, "sharing", "fair")
        times.append(simulate(schedule, tree, 8.0).makespan)
    assert times == pytest.approx([7.0, 8.0], rel=1e-9)


def test_pods_have_cables_of_their_own() -> None:
    """Two leaves of two to a pod: 4 NICs below, 2:1 twice over, so one cable to the core."""
    tree = fat_tree.join(
        switch(1, WIRE, "x"), 8, WIRE, 2,
        oversubscription=2.0, leaves_per_pod=2, pod_oversubscription=2.0,
    )  # fmt: skip
    assert [tree.links.names[i] for i in tree.route(0, 2)][1:3] == [
        "leaf[0].up",
        "leaf[1].down",
    ]
    assert [tree.links.names[i] for i in tree.route(0, 7)][1:5] == [
        *("leaf[0].up", "spine[0].up", "spine[1].down", "leaf[3].down"),
    ]
    cuts = {cut.name: (cut.out_rate, cut.group.tolist()) for cut in tree.cuts}
    assert cuts["leaf"] == (1.0, [0, 0, 1, 1, 2, 2, 3, 3])
    assert cuts["pod"] == (1.0, [0, 0, 0, 0, 1, 1, 1, 1])


def test_a_cable_of_the_trunk_may_have_numbers_of_its_own() -> None:
    """Its alpha comes on top, once per level; its bandwidth decides how many there are."""
    cable = LinkClass("cable", 0.25, 2.0)
    tree = fat_tree.join(switch(1, WIRE, "x"), 8, WIRE, 4, trunk_link=cable)
    assert tree.links.lanes[tree.links.names.index("leaf[0].up")] == 2
    assert tree.links.alpha[list(tree.route(0, 7))].sum() == 0.25
    assert tree.links.alpha[list(tree.route(0, 3))].sum() == 0.0


def test_gpus_share_nics_evenly() -> None:
    """GPU i uses NIC i * nics // gpus: of 2 NICs for 4 GPUs, two and two."""
    four = star.join(switch(4, WIRE, "x"), 2, WIRE, 2)
    used = [four.links.names[four.route(gpu, 7)[1]] for gpu in range(4)]
    assert used == ["nic[0].up", "nic[0].up", "nic[1].up", "nic[1].up"]
    five = star.join(switch(5, WIRE, "x"), 2, WIRE, 3)
    used = [five.links.names[five.route(gpu, 9)[1]] for gpu in range(5)]
    assert used == [f"nic[{i}].up" for i in (0, 0, 1, 1, 2)]


def test_a_shared_nic_takes_messages_in_turn() -> None:
    """Two GPUs, one NIC: 1 and 2 seconds; with one each, 1 second."""
    schedule = messages(4, [(0, 2), (1, 3)])
    one, two = (star.join(switch(2, WIRE, "x"), 2, WIRE, nics) for nics in (1, 2))
    assert simulate(schedule, one, 4.0).finish.tolist() == [1.0, 2.0]
    assert simulate(schedule, two, 4.0).finish.tolist() == [1.0, 1.0]


def test_more_nics_than_gpus_are_lanes() -> None:
    """Two messages of one GPU leave at once, neither faster than a NIC."""
    pair = star.join(switch(1, WIRE, "x"), 3, WIRE, 2)
    assert simulate(messages(3, [(0, 1), (0, 2)]), pair, 3.0).finish.tolist() == [1.0, 1.0]
    assert [cut.out_rate for cut in pair.cuts if cut.name == "node"] == [2.0]
    assert pair.uniform is None


def test_oversubscribed_rails_share_the_way_to_the_spine() -> None:
    """Along a rail nothing is shared; across, 3 nodes share 1.5 cables' worth."""
    three = rails.join(switch(2, WIRE, "x"), 3, WIRE, oversubscription=2.0)
    assert len(three.route(0, 2)) == 2
    assert [three.links.names[i] for i in three.route(0, 3)][1:3] == [
        "leaf[0].up",
        "leaf[1].down",
    ]
    link = three.links.names.index("leaf[0].up")
    assert three.links.lanes[link] / three.links.beta[link] == 1.5


def test_a_node_of_one_gpu_on_a_star_is_a_one_port_network() -> None:
    """So the formulas hold; with a trunk, lanes or shared NICs nobody claims that."""
    assert star.join(switch(1, WIRE, "x"), 4, WIRE).uniform == (0.0, 1.0)
    assert rails.join(switch(1, WIRE, "x"), 4, WIRE).uniform == (0.0, 1.0)
    assert lone_gpus(4, 2).uniform is None
    assert star.join(switch(2, WIRE, "x"), 4, WIRE).uniform is None


def test_groups_of_a_node_reach_out_over_their_own_nics() -> None:
    """Two switches of two GPUs with one NIC for each: 1 over PCIe and 1 over the NIC."""
    box = pcie_tree(4, WIRE, "box", gpus_per_switch=2, switches_per_bridge=2)
    joined = star.join(box, 2, WIRE, 2)
    cuts = {cut.name: cut for cut in joined.cuts}
    assert cuts["switch"].out_rate == 2.0
    assert cuts["node"].out_rate == 2.0
    assert np.unique(cuts["switch"].group).tolist() == [0, 1, 2, 3]


def test_pods_without_oversubscription_of_their_own() -> None:
    """They say what they are, and no ratio; a ratio without pods is refused."""
    pair = switch(2, WIRE, "pair")
    pods = fat_tree.join(pair, 8, WIRE, 2, leaves_per_pod=2)
    assert pods.shape.endswith("2 to a leaf, 2 leaves to a pod")
    message = "pod_oversubscription: got 2, but there are no pods; expected leaves_per_pod"
    with pytest.raises(InputError, match=message):
        fat_tree.join(pair, 8, WIRE, 2, pod_oversubscription=2.0)


def test_sockets_need_a_link_between_them() -> None:
    """Eight GPUs, two to a switch, one switch to a bridge, two bridges to a socket."""
    sizes = {"gpus_per_switch": 2, "switches_per_bridge": 1, "bridges_per_socket": 2}
    with pytest.raises(InputError, match="socket: missing, expected a link to join 2 sockets"):
        pcie_tree(8, WIRE, "box", **sizes)
