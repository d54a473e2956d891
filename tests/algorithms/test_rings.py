"""Rings in channels: every NIC of a node is busy, in hand-worked times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collsim.algorithms import build, find
from collsim.algorithms._rings import ring_order
from collsim.choose.curve import Curve
from collsim.choose.folding import folded_simulation
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.core.setting import Setting
from collsim.engine.simulate import simulate
from collsim.engine.verdict import verify_schedule
from collsim.errors import InputError
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


# Without a switch: cluster, rings, GB/s that they carry together by the datasheet.
MESHES = [
    ("dgx1-v100", 6, 6 * 25.0),
    ("hgx-a100-4", 6, 3 * 100.0),
    ("gh200-slingshot", 6, 3 * 150.0),
    ("mi300x", 7, 7 * 64.0),
]
AROUND = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")


@pytest.mark.parametrize("kind", AROUND)
@pytest.mark.parametrize(("name", "rings", "together"), MESHES)
def test_rings_over_cables_of_their_own_add_up(
    kind: str, name: str, rings: int, together: float
) -> None:
    """They carry so many times what a cable does, but for latency, and never beat the bound."""
    chunks = 64 if kind in {"broadcast", "reduce"} else "auto"
    size = 2**36
    (row,) = predict(kind, Cluster.load(name), size, "ring", chunks=chunks).rows
    assert row.channels == rings
    assert 0.88 * together < row.busbw <= together
    assert row.time_us >= row.lower_bound_us
    one = predict(kind, Cluster.load(name), size, "ring", chunks=chunks, channels=1).rows[0]
    assert row.time_us < one.time_us


@pytest.mark.parametrize(
    ("name", "together"), [(name, together) for name, _, together in MESHES]
)
def test_trees_go_along_all_of_the_rings(name: str, together: float) -> None:
    """Up and down over the same cables: 2n where a ring moves 2(P-1)/P n, so nearly as fast."""
    cluster = Cluster.load(name)
    (row,) = predict("all_reduce", cluster, 2**34, "double_binary_tree", chunks=16).rows
    assert row.channels > 1
    assert 0.55 * together < row.busbw <= together
    assert row.time_us >= row.lower_bound_us


@pytest.mark.parametrize(("name", "nics"), [("mi300x", 8 * 50.0), ("dgx1-v100", 4 * 12.5)])
def test_over_several_meshes_the_nics_are_the_limit(name: str, nics: float) -> None:
    """By the ranks, seven of eight rings would leave a GPU by the same cable."""
    two = Cluster.load(name, nodes=2)
    (row,) = predict("all_reduce", two, 2**36, "ring").rows
    assert row.channels == 8
    assert 0.95 * nics < row.busbw <= nics


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, "ring") for kind in AROUND),
        *((kind, "double_binary_tree") for kind in ("all_reduce", "broadcast", "reduce")),
    ],
)
@settings(max_examples=20, deadline=None)
@given(st.integers(3, 6).flatmap(lambda n: st.tuples(
    st.lists(st.permutations(range(n)), min_size=1, max_size=3), st.integers(1, 4),
    st.integers(1, 3), st.integers(0, n - 1),
)))  # fmt: skip
def test_in_any_orders_the_right_data_come(
    kind: str, name: str, drawn: tuple[list[list[int]], int, int, int]
) -> None:
    """Orders are only ways: on one node, or through each of several."""
    rings, channels, nodes, root = drawn
    gpus = len(rings[0])
    chunks = 2 if find(kind, name).chunked else 1
    schedule = build(
        kind, name, gpus * nodes, root if kind in {"broadcast", "reduce"} else 0, chunks,
        node=np.arange(gpus * nodes) // gpus, channels=channels, rings=rings,
    )  # fmt: skip
    assert verify_schedule(schedule).ok


def test_one_channel_takes_the_first_of_them() -> None:
    """On a DGX-1 ranks 3 and 4 have no NVLink, so by the ranks two hops would be two."""
    cluster = Cluster.load("dgx1-v100")
    assert cluster.rings is not None
    schedule = build("all_gather", "ring", 8, rings=cluster.rings)
    assert all(
        len(cluster.route(int(a), int(b))) == 1
        for a, b in zip(schedule.src, schedule.dst, strict=True)
    )


@pytest.mark.parametrize(
    ("rings", "said"),
    [
        ([[0, 1, 1]], "expected each of 0 to 2 once"),
        ([[0, 1, 2, 3]], "expected each of 0 to 2 once"),
        ([[0, 1]], "expected each of 0 to 2 once"),
        ([0, 1, 2], "expected rows of whole numbers"),
        ([[0.0, 1.0, 2.0]], "expected rows of whole numbers"),
        (np.zeros((0, 3), dtype=np.int64), "expected rows of whole numbers"),
    ],
)
def test_what_is_no_ring(rings: object, said: str) -> None:
    """It is refused with what was expected."""
    with pytest.raises(InputError, match=said):
        build("all_gather", "ring", 3, rings=rings)  # type: ignore[arg-type]


def test_rings_ask_for_nodes_alike() -> None:
    """An order of a node's ranks says nothing of a smaller one."""
    with pytest.raises(InputError, match="nodes differ in their numbers of ranks"):
        build("all_gather", "ring", 5, node=[0, 0, 0, 1, 1], rings=[[0, 1, 2]])


@pytest.mark.parametrize("kind", ["all_reduce", "all_gather", "reduce_scatter"])
def test_a_few_nodes_stand_for_all_but_no_ranks_of_one(kind: str) -> None:
    """Shifted by two nodes rings are the same, shifted by a rank of a mesh they are not."""
    algorithm = find(kind, "ring")
    assert algorithm.claim(Cluster.load("mi300x").setting) is None
    four = Cluster.load("mi300x", nodes=4)
    few = folded_simulation(kind, "ring", algorithm, four, channels=8)
    whole = build(kind, "ring", 32, node=four.node, channels=8, rings=four.setting.rings)
    assert few.folded.fold.step == 16
    for size in (1.0, 2.0**20, 2.0**30):
        assert few.makespan(size) == simulate(whole, four, size).makespan
