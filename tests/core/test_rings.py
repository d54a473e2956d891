"""Rings over a machine's own cables: none is used twice, and their number is the known best."""

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.disjoint import disjoint
from collsim.core.rings import MOST_GPUS, paths, rings
from collsim.topology import degrade, fail, reorder, subset
from collsim.topology.hybrid_cube_mesh import WIRING

Floats = NDArray[np.float64]


def full(gpus: int) -> Floats:
    """Return a full mesh with cables of 1."""
    return 1.0 * ~np.eye(gpus, dtype=np.bool_)


def cube_mesh() -> Floats:
    """Return the NVLinks of every pair of a DGX-1 with V100."""
    rate = np.zeros((8, 8))
    for (a, b), cables in WIRING.items():
        rate[a, b] = rate[b, a] = cables
    return rate


def used(orders: NDArray[np.int64], closed: bool = True) -> Floats:
    """Return how many orders go from each GPU to each other."""
    ends = [
        pair
        for order in orders.tolist()
        for pair in pairwise(order + order[:1] if closed else order)
    ]
    table = np.zeros((orders.shape[1],) * 2)
    for (a, b), count in Counter(ends).items():
        table[a, b] = count
    return table


def carried(rate: Floats) -> float:
    """Return what the rings that are found carry together, each checked to be one."""
    found = rings(rate)
    assert found is not None
    assert (np.sort(found) == np.arange(len(rate))).all()
    uses = used(found)
    assert (rate[uses > 0] > 0).all()
    return float(len(found) * (rate[uses > 0] / uses[uses > 0]).min())


@pytest.mark.parametrize("gpus", range(3, MOST_GPUS + 1))
def test_a_full_mesh_is_used_up(gpus: int) -> None:
    """P - 1 rings use every cable once (Tillson 1980); for 4 and 6 twice as many, twice."""
    found = rings(full(gpus))
    assert found is not None
    twice = 1 + (gpus in {4, 6})
    assert len(found) == twice * (gpus - 1)
    assert (used(found) == twice * full(gpus)).all()


def test_a_dgx1_has_six_rings_of_one_nvlink() -> None:
    """They use every NVLink once in each direction: six links go out of a GPU."""
    found = rings(cube_mesh())
    assert found is not None
    assert len(found) == 6
    assert (used(found) == cube_mesh()).all()


@pytest.mark.parametrize("gpus", range(3, MOST_GPUS + 1))
def test_paths_through_a_full_mesh_begin_and_end_everywhere(gpus: int) -> None:
    """P paths that share no cable; for 3 and 5 (with the network 4 and 6) two share some."""
    found = paths(full(gpus))
    assert found is not None
    assert found[:, 0].tolist() == list(range(gpus))
    assert sorted(found[:, -1].tolist()) == list(range(gpus))
    assert used(found, closed=False).max() == 1 + (gpus in {3, 5})


def test_paths_through_a_dgx1_go_over_nvlinks_alone() -> None:
    """Eight paths where seven cables leave a GPU, the network's included: two share one."""
    found = paths(cube_mesh())
    assert found is not None
    assert (used(found, closed=False) <= 2 * cube_mesh()).all()


def test_a_torus_has_two_rings_each_way() -> None:
    """4 x 4 GPUs with four cables each: four rings use all of them."""
    place = np.arange(16)
    x, y = place // 4, place % 4
    apart = [np.minimum((c - c[:, None]) % 4, (c[:, None] - c) % 4) for c in (x, y)]
    assert carried(1.0 * (sum(apart) == 1)) == 4


def test_no_way_around_is_no_ring() -> None:
    """In a line the last GPU has no way back that leaves anybody out."""
    line = np.zeros((4, 4))
    for a, b in pairwise(range(4)):
        line[a, b] = line[b, a] = 1
    assert rings(line) is None


def test_one_way_is_one_ring() -> None:
    """Cables in one direction only, in an order that is not that of the ranks."""
    one_way = np.zeros((4, 4))
    for a, b in pairwise((0, 2, 1, 3, 0)):
        one_way[a, b] = 5e9
    assert np.array_equal(rings(one_way), [[0, 2, 1, 3]])


def test_a_slow_cable_does_not_slow_all_rings() -> None:
    """One cable of a mesh of 5 is a tenth as fast: three rings, not 31 of a tenth's speed."""
    rate = full(5)
    rate[0, 1] = 0.1
    assert carried(rate) == 3


@settings(max_examples=60, deadline=None)
@given(
    st.integers(3, 5).flatmap(
        lambda n: st.lists(st.integers(0, 3), min_size=n * n, max_size=n * n)
    )
)
def test_of_small_graphs_the_best_is_found(cables: list[int]) -> None:
    """Against all sets of rings of a graph, by trying them; and no cable is promised twice."""
    size = int(len(cables) ** 0.5)
    uses = np.array(cables).reshape(size, size) * ~np.eye(size, dtype=np.bool_)
    table = tuple(tuple(row) for row in uses.tolist())
    best = _most(table)
    for count in (best, best + 1):
        found, _ = disjoint(table, count) if count else (None, 0)
        assert (found is not None) == (0 < count <= best)
        if found is not None:
            assert (used(np.array(found)) <= uses).all()


def _most(uses: tuple[tuple[int, ...], ...]) -> int:
    """Return the most rings, by trying each ring or none of its kind."""
    size = len(uses)
    every = [(0, *rest) for rest in permutations(range(1, size))]

    def most(left: Floats, first: int) -> int:
        best = 0
        for i in range(first, len(every)):
            mine = used(np.array([every[i]]))
            if (mine <= left).all():
                best = max(best, 1 + most(left - mine, i))
        return best

    return most(np.array(uses, dtype=np.float64), 0)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("dgx1-v100", (6, 8)),
        ("hgx-a100-4", (6, 4)),
        ("gh200-slingshot", (6, 4)),
        ("mi300x", (7, 8)),
        ("dgx-h100", None),
        ("pcie-8", None),
        ("gb200-nvl72", None),
        ("textbook-h100", None),
    ],
)
def test_rings_of_presets(name: str, shape: tuple[int, int] | None) -> None:
    """Those without a switch have rings of their own; a switch, a bus or a port needs none."""
    found = Cluster.load(name).rings
    assert (found if found is None else found.shape) == shape


def test_a_broken_cable_is_in_no_ring() -> None:
    """Rings are sought among what is left, as NCCL does when it starts."""
    hurt = fail(Cluster.load("mi300x"), "gpu[2]>gpu[5]").rings
    assert hurt is not None
    assert used(hurt)[2, 5] == 0
    assert len(hurt) >= 6


def test_a_slow_cable_stays_in_its_ring() -> None:
    """NCCL goes by what a cable is, not by what it measures."""
    whole = Cluster.load("mi300x")
    assert np.array_equal(degrade(whole, "gpu[2]>gpu[5]", 0.25).rings, whole.rings)


def test_ranks_in_another_order_have_the_same_cables() -> None:
    """On a DGX-1, where cables differ, the rings of moved ranks are still rings of NVLinks."""
    order = [3, 1, 4, 0, 5, 7, 2, 6]
    moved = reorder(Cluster.load("dgx1-v100"), order).rings
    assert moved is not None
    assert (used(np.array(order)[moved]) == cube_mesh()).all()


def test_a_group_of_a_node_has_its_own() -> None:
    """Four of the eight GPUs of a mesh are a mesh of four."""
    some = subset(Cluster.load("mi300x"), [1, 3, 4, 6]).rings
    assert some is not None
    assert some.shape == (6, 4)


def test_nodes_that_differ_have_none() -> None:
    """A cable that failed in one of two nodes: rings then go by the ranks."""
    two = Cluster.load("mi300x", nodes=2)
    assert two.rings is not None
    assert two.rings.shape == (8, 8)
    assert fail(two, "gpu[2]>gpu[5]").rings is None
