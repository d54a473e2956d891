"""Rings over nodes whose links differ, worked by hand; first in, first out."""

from __future__ import annotations

import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.engine.simulate import simulate
from collsim.topology import fat_tree, rails, star
from collsim.topology.full_mesh import full_mesh
from collsim.topology.ring import ring
from collsim.topology.switch import switch

INTRA, INTER = 3e-6, 14e-6
SIZES = [(1, 2), (1, 5), (2, 2), (2, 4), (3, 1), (3, 2), (4, 8), (5, 3), (8, 1)]


def time(cluster: Cluster, collective: str, nbytes: float = 0.0) -> float:
    """Return the time of the ring."""
    return simulate(build(collective, "ring", cluster.ranks), cluster, nbytes).makespan


def cluster(nodes: int, gpus: int, *, overlaps: bool, shape: str = "rails") -> Cluster:
    """Return nodes of slow and fast links, with start-ups that overlap or not."""
    near = LinkClass("near", INTRA, 400e9, 0.0 if overlaps else None)
    far = LinkClass("far", INTER, 50e9, 0.0 if overlaps else None)
    node = {
        "rails": lambda: switch(gpus, near, "x"),
        "mesh": lambda: full_mesh(gpus, near, "x"),
        "ring": lambda: ring(gpus, near, "x"),
        "one NIC": lambda: switch(gpus, near, "x"),
    }[shape]()
    if nodes == 1:
        return node
    return (
        star.join(node, nodes, far, 1) if shape == "one NIC" else rails.join(node, nodes, far)
    )


@pytest.mark.parametrize("shape", ["rails", "mesh", "ring", "one NIC"])
@pytest.mark.parametrize(("nodes", "gpus"), [size for size in SIZES if size[0] > 1])
def test_ring_all_gather_pays_each_link_once_a_revolution(
    nodes: int, gpus: int, shape: str
) -> None:
    """Where start-ups overlap, N alpha_inter + (P-N-1) alpha_intra, or (P-1) alpha_inter.

    A piece makes P-1 hops of the ring's P. The last piece to arrive is the one that leaves
    out a cheap hop; with one GPU in a node all hops cost the same.
    """
    ranks = nodes * gpus
    inside = (ranks - nodes - 1) * INTRA
    expected = nodes * INTER + inside if gpus > 1 else (ranks - 1) * INTER
    mixed = cluster(nodes, gpus, overlaps=True, shape=shape)
    assert time(mixed, "all_gather") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("nodes", "gpus"), [size for size in SIZES if size[0] > 1])
def test_ring_all_reduce_makes_two_revolutions_less_two_hops(nodes: int, gpus: int) -> None:
    """2 (N alpha_inter + (P-N) alpha_intra) less the two cheapest hops in a row."""
    ranks = nodes * gpus
    hops = ([INTRA] * (gpus - 1) + [INTER]) * nodes
    spared = min(a + b for a, b in zip(hops, hops[1:] + hops[:1], strict=True))
    expected = 2 * sum(hops) - spared
    assert expected == pytest.approx(2 * (nodes * INTER + (ranks - nodes) * INTRA) - spared)
    mixed = cluster(nodes, gpus, overlaps=True)
    assert time(mixed, "all_reduce") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("nodes", "gpus"), [size for size in SIZES if size[0] > 1])
def test_without_overlap_the_slowest_link_counts_in_every_step(nodes: int, gpus: int) -> None:
    """alpha_busy = alpha: P-1 messages of a NIC follow each other."""
    mixed = cluster(nodes, gpus, overlaps=False)
    expected = (nodes * gpus - 1) * INTER
    assert time(mixed, "all_gather") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("overlaps", [True, False])
@pytest.mark.parametrize(("nodes", "gpus"), [size for size in SIZES if size[0] > 1])
def test_large_rings_run_at_the_slowest_bandwidth(
    nodes: int, gpus: int, overlaps: bool
) -> None:
    """1 TB: (P-1)/P n over 50 GB/s, within a thousandth."""
    ranks, nbytes = nodes * gpus, 1e12
    mixed = cluster(nodes, gpus, overlaps=overlaps)
    expected = (ranks - 1) / ranks * nbytes / 50e9
    assert time(mixed, "all_gather", nbytes) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "collective", ["all_gather", "all_reduce", "reduce_scatter", "broadcast"]
)
@pytest.mark.parametrize("nbytes", [0.0, 1.0, 1e6, 1e9])
@pytest.mark.parametrize("busy", [0.0, 1e-6, 2e-6])
def test_two_by_eight_is_eight_by_two(collective: str, nbytes: float, busy: float) -> None:
    """Of equal links, inside and outside."""
    link = LinkClass("any", 2e-6, 1e9, busy)
    one, two = (rails.join(switch(16 // n, link, "x"), n, link) for n in (2, 8))
    whole = switch(16, link, "x")
    times = {time(c, collective, nbytes) for c in (one, two, whole)}
    assert max(times) == pytest.approx(min(times), rel=1e-12)


@pytest.mark.parametrize("collective", ["all_gather", "all_reduce", "all_to_all"])
def test_twice_the_bandwidth_halves_the_bytes_exactly(collective: str) -> None:
    """What is left of the time is alpha, and stays."""

    def at(factor: float, nbytes: float) -> float:
        near = LinkClass("near", INTRA, factor * 2.0**38)
        far = LinkClass("far", INTER, factor * 2.0**35)
        return time(rails.join(switch(4, near, "x"), 4, far), collective, nbytes)

    alphas = at(1, 0)
    assert at(2, 0) == alphas
    assert at(1, 2.0**30) - alphas == pytest.approx(2 * (at(2, 2.0**30) - alphas), rel=1e-12)


def test_a_message_over_a_switch_is_charged_once() -> None:
    """One alpha and one beta: up and down are one way, and so are four links of a fat tree."""
    link = LinkClass("wire", 2e-6, 1e9)
    for one in (
        switch(8, link, "x"),
        fat_tree.join(switch(1, link, "x"), 8, link, 4),
        star.join(switch(2, link, "x"), 4, link, 1),
    ):
        schedule = build("sendrecv", "direct", 8)
        assert simulate(schedule, one, 1e6).makespan >= 1002e-6 * (1 - 1e-12)
        route = list(one.route(0, 7))
        assert one.links.alpha[route].sum() == 2e-6
        assert one.links.beta[route].max() == 1e-9
    assert simulate(schedule, switch(8, link, "x"), 1e6).makespan == pytest.approx(1002e-6)


def test_two_nodes_of_four_with_one_nic_each_way() -> None:
    """Ring over 2 nodes x 4 GPUs, n = 8 MB: 7 pieces of 1 MB leave each node one by one.

    Each takes 14 us + 1 MB / (50 GB/s) = 34 us, and no hop inside is slower: 238 us.
    """
    two = cluster(2, 4, overlaps=False, shape="one NIC")
    assert time(two, "all_gather", 8e6) == pytest.approx(7 * 34e-6, rel=1e-12)


def test_two_nodes_of_four_with_one_nic_where_start_ups_overlap() -> None:
    """The NIC of GPU 3 passes 7 MB without a pause in 140 us, and the last one takes 14 more.

    Its own piece and those of GPUs 2, 1 and 0 keep it busy until 80 us. The piece of GPU 7
    crosses the other NIC until 34 us and needs 3 (3 us + 1 MB / (400 GB/s)) = 16.5 us to
    GPU 3, so it is there at 50.5 us, and those of 6 and 5 each 20 us later. The piece of
    GPU 5 ends its 7 hops at GPU 4.
    """
    two = cluster(2, 4, overlaps=True, shape="one NIC")
    assert time(two, "all_gather", 8e6) == pytest.approx(7 * 20e-6 + 14e-6, rel=1e-12)
