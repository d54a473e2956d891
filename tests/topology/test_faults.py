"""Degraded and broken parts, and ranks that enter late, worked by hand."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, refusal
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.link import LinkClass
from collsim.engine.bound import lower_bound
from collsim.engine.simulate import simulate
from collsim.errors import InputError
from collsim.topology import degrade, delay, fail, reorder
from collsim.topology._node import with_local
from collsim.topology.fat_tree import join as fat_tree
from collsim.topology.full_mesh import full_mesh
from collsim.topology.pcie_tree import pcie_tree
from collsim.topology.rails import join
from collsim.topology.switch import switch

NEAR = LinkClass("near", alpha=1.0, bandwidth=4.0)
FAR = LinkClass("far", alpha=2.0, bandwidth=1.0)
FREE = LinkClass("free", alpha=0.0, bandwidth=1.0)


def names(cluster: Cluster, src: int, dst: int) -> list[str]:
    """Return the links of a route by name."""
    return [cluster.links.names[i] for i in cluster.route(src, dst)]


def messages(cluster: Cluster, *pairs: tuple[int, int], nbytes: float = 4.0) -> list[float]:
    """Return when messages of n bytes end that are all ready at once."""
    b = Builder(collective("all_reduce"), cluster.ranks)
    for src, dst in pairs:
        b.next_round()
        b.copy(src, dst, [0])
    return simulate(b.finish(), cluster, nbytes).finish.tolist()


def ring(cluster: Cluster, nbytes: float = 8.0) -> float:
    """Return the time of an all_gather around the ring."""
    return simulate(build("all_gather", "ring", cluster.ranks), cluster, nbytes).makespan


def test_a_degraded_nic_slows_the_ring_by_its_factor() -> None:
    """Without alpha: 3 blocks of 2 bytes at 1, then at 1/4 bytes per second."""
    pair = join(switch(2, NEAR, "pair"), 2, FREE)
    assert ring(pair) == pytest.approx(6)
    assert ring(degrade(pair, "nic[1]", 0.25)) == pytest.approx(24)
    # 2 + 2 / 0.25 three times.
    assert ring(
        degrade(join(switch(2, NEAR, "pair"), 2, FAR), "nic[1]", 0.25)
    ) == pytest.approx(30)


def test_only_one_direction() -> None:
    """In a ring of two nodes NIC 1 sends, and nobody sends to it."""
    pair = join(switch(2, NEAR, "pair"), 2, FREE)
    assert ring(degrade(pair, "nic[1].down", 0.25)) == ring(pair)
    assert ring(degrade(pair, "nic[1].up", 0.25)) == pytest.approx(24)


def test_degraded_twice_multiplies() -> None:
    """A half of a half is a quarter; 1 changes no time."""
    pair = join(switch(2, NEAR, "pair"), 2, FREE)
    assert ring(degrade(degrade(pair, "nic[1]", 0.5), "nic[1]", 0.5)) == pytest.approx(24)
    assert ring(degrade(pair, "nic[1]", 1)) == ring(pair)


def test_what_is_degraded_is_no_other_cluster() -> None:
    """The healthy one stays as it was."""
    pair = join(switch(2, NEAR, "pair"), 2, FREE)
    before = pair.links.beta.copy()
    degrade(pair, "nic[1]", 0.25)
    fail(pair, "nic[1]")
    assert (pair.links.beta == before).all()


def test_all_nics_degraded_tighten_the_bound() -> None:
    """Half of every NIC: half of what can leave a node."""
    hurt = pair = join(switch(2, NEAR, "pair"), 2, FREE)
    for i in range(4):
        hurt = degrade(hurt, f"nic[{i}]", 0.5)
    rates = [{cut.name: cut.out_rate for cut in c.cuts} for c in (pair, hurt)]
    assert rates == [{"rank": 5, "node": 2}, {"rank": 4.5, "node": 1}]


def test_a_formula_no_longer_holds() -> None:
    """One slower cable, or one late rank, and the network is not uniform."""
    four = switch(4, NEAR, "four")
    assert four.uniform is not None
    assert degrade(four, "gpu[1]", 0.5).uniform is None
    assert delay(four, "rank[1]", 1.0).uniform is None
    assert delay(four, "rank[1]", 0.0) is four


def test_a_broken_nic_is_passed_by_over_a_neighbour_and_shares_its_nic() -> None:
    """0 to 2 holds NIC 0 until 2 + 4; then 1 to 3 takes 1 + 2 + 4 more."""
    pair = join(switch(2, NEAR, "pair"), 2, FAR)
    hurt = fail(pair, "nic[1]")
    assert names(hurt, 1, 3) == ["gpu[1].up", "gpu[0].down", "nic[0].up", "nic[3].down"]
    assert names(hurt, 2, 1) == ["nic[2].up", "nic[0].down", "gpu[0].up", "gpu[1].down"]
    assert names(hurt, 0, 2) == names(pair, 0, 2)
    assert messages(pair, (0, 2), (1, 3)) == [6, 6]
    assert messages(hurt, (0, 2), (1, 3)) == [6, 13]


def test_a_broken_nic_shares_fairly_too() -> None:
    """From 2 on alone, from 3 on with the other: 1 + 3 / 0.5 and then 1 more second."""
    hurt = replace(fail(join(switch(2, NEAR, "pair"), 2, FAR), "nic[1]"), sharing="fair")
    assert messages(hurt, (0, 2), (1, 3)) == pytest.approx([9, 10])


def test_a_broken_nic_in_the_ring() -> None:
    """1 to 2 goes over NIC 0, which nobody else needs: 3 + 2 instead of 2 + 2 at each step."""
    pair = join(switch(2, NEAR, "pair"), 2, FAR)
    assert ring(pair) == 12
    assert ring(fail(pair, "nic[1]")) == 15


def test_several_at_once_or_one_by_one() -> None:
    """The same ways around."""
    four = join(switch(4, NEAR, "four"), 2, FAR)
    both = fail(four, "nic[1]", "nic[2]")
    steps = fail(fail(four, "nic[2]"), "nic[1]")
    for src in range(8):
        for dst in range(8):
            assert names(both, src, dst) == names(steps, src, dst)
    assert names(both, 1, 6) == ["gpu[1].up", "gpu[0].down", "nic[0].up", "nic[6].down"]


def test_the_widest_of_equally_many_links() -> None:
    """NIC 0 has half of its bandwidth left, so that GPU 1 relays for GPU 2."""
    four = degrade(join(switch(4, NEAR, "four"), 2, FAR), "nic[0]", 0.5)
    assert names(fail(four, "nic[2]"), 2, 6)[:3] == ["gpu[2].up", "gpu[1].down", "nic[1].up"]


def test_a_broken_leaf_switch_is_a_broken_rail() -> None:
    """All that is plugged into it is gone; its traffic takes another rail."""
    hurt = fail(join(switch(2, NEAR, "pair"), 2, FAR), "leaf[1]")
    route = ["gpu[1].up", "gpu[0].down", "nic[0].up", "nic[2].down", "gpu[2].up", "gpu[3].down"]
    assert names(hurt, 1, 3) == route


def test_a_broken_cable_of_a_mesh() -> None:
    """One way, or both; a third GPU relays: 1 + 1 + 4/4."""
    mesh = full_mesh(3, NEAR, "mesh")
    assert names(fail(mesh, "gpu[0]>gpu[1]"), 0, 1) == ["gpu[0]>gpu[2]", "gpu[2]>gpu[1]"]
    assert names(fail(mesh, "gpu[0]>gpu[1]"), 1, 0) == ["gpu[1]>gpu[0]"]
    both = fail(mesh, "gpu[0]<>gpu[1]")
    assert names(both, 1, 0) == ["gpu[1]>gpu[2]", "gpu[2]>gpu[0]"]
    assert messages(both, (0, 1)) == [3]


def test_without_another_way_the_error_names_the_pair() -> None:
    """One NIC per node, one NVLink per GPU of a lone node, all cables of a GPU."""
    with pytest.raises(InputError, match=r"^fail nic\[1\]: rank 0 can no longer reach rank 1$"):
        fail(join(switch(1, NEAR, "two"), 2, FAR), "nic[1]")
    with pytest.raises(
        InputError, match=r"fail gpu\[2\].up: rank 2 can no longer reach rank 0"
    ):
        fail(switch(4, NEAR, "four"), "gpu[2].up")
    with pytest.raises(InputError, match="rank 0 can no longer reach rank 1"):
        fail(full_mesh(3, NEAR, "mesh"), "gpu[1]")
    with pytest.raises(InputError, match=r"fail nic\[0\], nic\[1\]: rank 0 can no longer"):
        fail(join(switch(2, NEAR, "pair"), 2, FAR), "nic[0]", "nic[1]")


def test_a_list_of_parts_is_refused() -> None:
    """Several are given one by one."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    with pytest.raises(InputError, match=r"got \['nic\[0\]'\], expected a name such as"):
        fail(cluster, ["nic[0]"])


def test_parts_are_counted_over_the_cluster_or_in_a_node() -> None:
    """NIC 1 of node 1 is NIC 3 of all; two NICs for four GPUs, too."""
    pair = join(switch(2, NEAR, "pair"), 2, FAR)
    assert names(fail(pair, "nic[1:1]"), 1, 3) == names(fail(pair, "nic[3]"), 1, 3)
    shared = join(switch(4, NEAR, "four"), 2, FAR, nics=2)
    hurt = degrade(shared, "nic[1:0]", 0.25)
    slow = [n for n, b in zip(hurt.links.names, hurt.links.beta, strict=True) if b == 4]
    assert {"nic[2].up", "nic[2].down"} <= set(slow)
    assert not [name for name in slow if "nic[2]" not in name]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            "nci[3]",
            r"no 'nci\[3\]' in cluster 'pair'; did you mean 'nic\[3\]'\? \(known: gpu\[0\] to",
        ),
        ("nic[4]", r"no 'nic\[4\]' .*nic\[0\] to nic\[3\]"),
        ("nic[0:2]", r"node 0 has nic\[0:0\] to nic\[0:1\]"),
        ("nic[2:0]", "nodes are 0 to 1"),
        ("leaf[0:0]", "node 0 has no leaf"),
        ("nic", r"no 'nic'"),
        ("", "no ''"),
        ("nic[3].sideways", "no 'nic"),
        ("gpu[0]>gpu[1]", "no 'gpu"),
    ],
)
def test_unknown_parts(part: str, message: str) -> None:
    """The nearest, and what there is."""
    pair = join(switch(2, NEAR, "pair"), 2, FAR)
    for change in (lambda: degrade(pair, part, 0.5), lambda: fail(pair, part)):
        with pytest.raises(InputError, match=message):
            change()


@pytest.mark.parametrize("left", [0, -1, 1.5, math.nan, math.inf, 1e-320])
def test_what_is_left_is_a_part(left: float) -> None:
    """All or nothing is not degraded."""
    with pytest.raises(InputError, match=r"degrade nic\[0\]: got .*above 0 and at most 1"):
        degrade(join(switch(2, NEAR, "pair"), 2, FAR), "nic[0]", left)


def test_an_ideal_network_has_no_parts() -> None:
    """But its ranks can be late."""
    ideal = Cluster.ideal(4, 1.0, 1.0)
    with pytest.raises(InputError, match="don't say what they join"):
        fail(ideal, "nic[0]")
    assert delay(ideal, 3, 2.0).delay is not None


def test_late_ranks_by_name() -> None:
    """Over the cluster, in a node, by number; several of one rank add up."""
    pair = join(switch(2, NEAR, "pair"), 2, FAR)
    late = delay(delay(delay(pair, "rank[1:0]", 1.0), 2, "2s"), "rank[0]", 0.5)
    assert late.delay is not None
    assert late.delay.tolist() == [0.5, 0, 3, 0]
    for wrong in ("rank[4]", "rank[2:0]", "rank[0:2]", "nic[0]", "3"):
        with pytest.raises(
            InputError, match=r"unknown rank '.*', expected rank\[0\] to rank\[3\]"
        ):
            delay(pair, wrong, 1.0)
    for seconds in (-1.0, math.inf, math.nan):
        with pytest.raises(InputError, match="expected seconds"):
            delay(pair, "rank[0]", seconds)


def test_a_straggler_in_a_ring_of_nodes() -> None:
    """Rank 2 enters at 100; then three blocks of 2 bytes come to it, 2 + 2 s each."""
    late = delay(join(switch(2, NEAR, "pair"), 2, FAR), "rank[2]", 100.0)
    found = simulate(build("all_gather", "ring", 4), late, 8.0)
    assert found.critical_path[0].why == "late rank"
    assert found.breakdown.waiting == 100
    assert found.makespan == 112


CLUSTERS = {
    "rails": join(switch(4, NEAR, "rails"), 2, FAR),
    "shared": join(switch(4, NEAR, "node"), 2, FAR, nics=2),
    "trunk": join(switch(2, NEAR, "node"), 4, FAR, oversubscription=2.0),
    "tree": fat_tree(switch(2, NEAR, "node"), 4, FAR, 2, oversubscription=2.0),
    "mesh": full_mesh(5, NEAR, "mesh"),
    "meshes": join(full_mesh(4, NEAR, "node"), 2, FAR),
    "pcie": pcie_tree(8, NEAR, "box", gpus_per_switch=2, switches_per_bridge=4),
    "placed": reorder(join(switch(4, NEAR, "rails"), 2, FAR), "across"),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_nothing_beats_the_bound_of_a_hurt_cluster(name: str) -> None:
    """Random faults, every algorithm, small and large; routes cross nothing broken."""
    rng = random.Random(name)
    whole = CLUSTERS[name]
    hurt_ones = 0
    for _ in range(12):
        hurt = whole
        for _ in range(rng.randint(1, 3)):
            part = rng.choice([n.split(">")[0].split(".")[0] for n in whole.links.names])
            try:
                hurt = rng.choice(
                    [
                        lambda p=part, h=hurt: degrade(h, p, 0.3),
                        lambda p=part, h=hurt: fail(h, p),
                    ]
                )()
            except InputError:  # Somebody can no longer be reached.
                continue
        hurt_ones += hurt is not whole
        src, dst = np.divmod(np.arange(hurt.ranks**2), hurt.ranks)
        away = src != dst
        _, link = hurt.router(src[away], dst[away])
        assert np.isfinite(hurt.links.beta[link]).all()
        for kind in ("all_reduce", "broadcast", "all_to_all", "sendrecv"):
            for algorithm in algorithm_names(kind):
                can = hurt.setting.multicast
                if refusal(kind, algorithm, hurt.ranks, hurt.node, can) is not None:
                    continue
                schedule = build(kind, algorithm, hurt.ranks, node=hurt.node, multicast=can)
                for nbytes in (0.0, 3.0, 1e4):
                    time = simulate(schedule, hurt, nbytes).makespan
                    bound = lower_bound(collective(kind), hurt, nbytes)
                    assert time >= bound * (1 - 1e-9), (kind, algorithm, nbytes, hurt.shape)
    assert hurt_ones > 3


@pytest.mark.parametrize("name", CLUSTERS)
def test_ways_around_are_ways(name: str) -> None:
    """Every link begins where the one before it ends, but for what joins the rails."""
    rng = random.Random(name)
    whole = CLUSTERS[name]
    free = {"leaf"}
    for _ in range(6):
        part = rng.choice([n.split(".")[0] for n in whole.links.names])
        try:
            hurt = fail(whole, part)
        except InputError:
            continue
        links = hurt.links
        assert links.tail is not None
        assert links.head is not None
        for src in range(hurt.ranks):
            for dst in range(hurt.ranks):
                route = hurt.route(src, dst)
                if src == dst:
                    continue
                assert links.tail[route[0]] == src
                assert links.head[route[-1]] == dst
                for one, two in pairwise(route):
                    a, b = (hurt.vertex(int(v)) for v in (links.head[one], links.tail[two]))
                    assert a == b or {a.split("[")[0], b.split("[")[0]} <= free


def test_one_way_of_a_gpu_among_pairs() -> None:
    """All that leads out of it; what comes in is as fast as before."""
    mesh = full_mesh(3, NEAR, "mesh")
    slow = degrade(mesh, "gpu[1].up", 0.5)
    changed = np.flatnonzero(slow.links.beta != mesh.links.beta)
    assert {slow.links.names[i] for i in changed} == {"gpu[1]>gpu[0]", "gpu[1]>gpu[2]"}


def test_a_rank_that_can_not_reach_its_own_memory() -> None:
    """A message to itself has no other way."""
    cluster = with_local(switch(3, NEAR, "three"), FREE)
    name = cluster.links.names[int(cluster.local[2])]  # type: ignore[index]
    with pytest.raises(InputError, match="rank 2 can no longer reach rank 2"):
        fail(cluster, name)


def test_a_graph_that_is_not_told_has_no_parts_to_place() -> None:
    """The ideal network has links without ends; ranks change places all the same."""
    ideal = reorder(Cluster.ideal(3, 1.0, 1.0), [2, 0, 1])
    assert ideal.links.tail is None
    assert ideal.order is not None
    assert ideal.order.tolist() == [2, 0, 1]
