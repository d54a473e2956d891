"""Presets: found from anywhere, loaded as they are, and every number says where it is from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.config import presets
from collsim.config.document import read_table
from collsim.config.links import preset_link
from collsim.config.presets import is_path, preset_names, preset_path
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.engine.simulate import simulate
from collsim.errors import UnknownNameError

CLUSTERS = preset_names("clusters")
LINKS = preset_names("links")
FILES = [("clusters", name) for name in CLUSTERS] + [("links", name) for name in LINKS]
ALGORITHMS = [(c, a) for c in COLLECTIVES for a in algorithm_names(c)]


def test_the_presets_of_this_release() -> None:
    """The names that people's scripts rely on."""
    assert set(CLUSTERS) == {
        *("textbook-h100", "dgx-a100", "dgx-b200", "dgx-b300", "dgx-h100", "dgx-h200"),
        *("dgx1-v100", "gb200-nvl72", "gh200-slingshot", "hgx-a100-4", "mi300x", "pcie-2"),
        *("pcie-8", "p4d-efa", "p5-efa", "dgx-a100-roce100", "dgx-h100-roce400"),
        "dgx-h100-fat-tree-2to1",
    }
    assert set(LINKS) == {
        *("hbm2e", "hbm3", "hbm3e", "nvlink2", "nvlink3", "nvlink4", "nvlink5", "xgmi4"),
        *("nvlink2-single", "nvlink3-single", "nvlink4-single", "pcie3", "pcie4", "pcie5"),
        *("upi", "edr100", "hdr200", "ndr400", "xdr800", "roce100", "roce400", "efa100"),
        *("efa400", "slingshot200"),
    }


def test_a_room_without_a_folder_is_empty(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No presets of a kind is no error; asking for one by name is."""
    monkeypatch.setattr(presets, "folder", lambda: tmp_path)
    assert preset_names("profiles") == ()
    with pytest.raises(UnknownNameError, match=r"^unknown profile 'x' \(known: none\)$"):
        preset_path("profiles", "x")


def test_unknown_room_names_the_nearest() -> None:
    """Presets are clusters, links and profiles."""
    expected = (
        r"^unknown kind of preset 'cluster'; did you mean 'clusters'\? "
        r"\(known: clusters, links, profiles\)$"
    )
    with pytest.raises(UnknownNameError, match=expected):
        preset_names("cluster")


@pytest.mark.parametrize(
    ("name", "file"),
    [("a.toml", True), ("./a", True), ("a/", True), ("dgx-h100", False), ("", False)],
)
def test_what_is_a_file(name: str, file: bool) -> None:
    """It ends in .toml or has a slash."""
    assert is_path(name) is file


def test_presets_are_found_from_any_folder(tmp_path: Path) -> None:
    """Where the program was started makes no difference."""
    code = "from collsim.core.cluster import Cluster; print(Cluster.load('dgx-h100').ranks)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "8\n"


@pytest.mark.parametrize(("room", "name"), FILES)
def test_the_path_is_the_name(room: str, name: str) -> None:
    """`configs/links/nvlink4.toml` calls itself nvlink4."""
    path = preset_path(room, name)
    schema = f"collsim/{room.removesuffix('s')}/1"
    assert read_table(str(path), schema).data["name"] == name


@pytest.mark.parametrize(
    ("name", "alpha", "bandwidth"),
    [
        ("hbm3", 0.5e-6, 1.675e12),  # half of 3.35 TB/s: a copy reads and writes
        ("nvlink2", 3.4e-6, 150e9),  # 6 links of 25 GB/s
        ("nvlink2-single", 3.4e-6, 25e9),
        ("nvlink3", 3.4e-6, 300e9),  # 12 links of 25 GB/s
        ("nvlink4", 3.4e-6, 450e9),  # 18 links of 25 GB/s
        ("nvlink5", 3.4e-6, 900e9),  # 18 links of 50 GB/s
        ("xgmi4", 3.4e-6, 64e9),  # half of 128 GB/s
        ("pcie3", 5.7e-6, 15.754e9),  # 8 GT/s, 16 lanes, 128 bits of 130, 8 bits a byte
        ("pcie4", 5.7e-6, 31.508e9),
        ("pcie5", 5.7e-6, 63.015e9),
        ("edr100", 14e-6, 12.5e9),  # 100 Gb/s
        ("hdr200", 14e-6, 25e9),  # 200 Gb/s
        ("ndr400", 14e-6, 50e9),  # 400 Gb/s
        ("xdr800", 14e-6, 100e9),  # 800 Gb/s
        ("slingshot200", 14e-6, 25e9),  # 200 Gb/s
    ],
)
def test_numbers_of_the_links(name: str, alpha: float, bandwidth: float) -> None:
    """Bandwidth is that of one direction; a link is busy for all of its alpha."""
    link = preset_link(name).link
    assert (link.alpha, link.bandwidth, link.busy) == (alpha, bandwidth, alpha)


def test_the_textbook_cluster() -> None:
    """10 us and 900 GB/s, and its source says that this is both directions."""
    cluster = Cluster.load("textbook-h100")
    assert cluster.ranks == 8
    assert cluster.uniform == (10e-6, 1 / 900e9)
    assert "both directions together" in cluster.links.classes[0].source


def unsourced(table: dict[str, Any], where: str = "") -> list[str]:
    """Return the numbers, and texts that begin with one, whose table names no source."""
    named = {"source", "kind"} <= table.keys()
    found = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += unsourced(value, f"{where}{key}.")
        elif key in {"source", "kind", "summary", "schema", "name", "family"} or named:
            continue
        elif not isinstance(value, str) or value[:1].isdigit():
            found.append(f"{where}{key}")
    return found


@pytest.mark.parametrize(("room", "name"), FILES)
def test_every_number_has_a_source(room: str, name: str) -> None:
    """And a kind, in the same table."""
    schema = f"collsim/{room.removesuffix('s')}/1"
    assert unsourced(read_table(str(preset_path(room, name)), schema).data) == []


def test_a_number_without_source_is_found() -> None:
    """The check above would prove nothing otherwise."""
    assert unsourced({"alpha": "1us", "node": {"gpus": 8, "source": "x"}}) == [
        "alpha",
        "node.gpus",
    ]


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_cluster_runs_every_algorithm(name: str) -> None:
    """Every preset can be simulated, and takes time."""
    cluster = Cluster.load(name)
    for kind, algorithm in ALGORITHMS:
        if refusal(kind, algorithm, cluster.ranks) is None:
            assert simulate(build(kind, algorithm, cluster.ranks), cluster, 1000).makespan > 0


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS, ids="/".join)
@pytest.mark.parametrize("nbytes", [0, 1, 1000, 2**30])
def test_one_node_obeys_the_formula(name: str, kind: str, algorithm: str, nbytes: int) -> None:
    """Where nothing but a rank's own link is shared, event simulation = formula."""
    cluster = Cluster.load(name)
    if cluster.uniform is None:
        assert name not in {"textbook-h100", "dgx-a100", "dgx-h100", "gb200-nvl72"}
        return
    if refusal(kind, algorithm, cluster.ranks) is not None:
        return
    terms = find(kind, algorithm).terms(cluster.ranks, 1)
    if terms is None:
        return
    formula = terms.seconds(nbytes, *cluster.uniform, cluster.gamma) + cluster.launch
    simulated = simulate(build(kind, algorithm, cluster.ranks), cluster, nbytes).makespan
    if terms.holds(cluster.gamma):
        assert simulated == pytest.approx(formula, rel=1e-9)
    else:
        assert simulated <= formula * (1 + 1e-9)


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_cluster_says_how_it_shares(name: str) -> None:
    """Fairly where trunks or NICs are shared, in turn elsewhere; formulas know the latter.

    NICs and trunks between nodes are shared where there are several; only the uplinks of
    a PCIe tree with two switches are shared in one.
    """
    cluster = Cluster.load(name)
    assert cluster.sharing == ("fair" if name == "pcie-8" else "fifo")
    meshes = {"mi300x", "gh200-slingshot", "hgx-a100-4", "dgx1-v100"}
    assert (cluster.uniform is None) == (name in meshes | {"pcie-8"})
    if name != "textbook-h100":
        shared = {"dgx1-v100", "p4d-efa", "pcie-2", "pcie-8", "dgx-h100-fat-tree-2to1"}
        several = Cluster.load(name, nodes=2)
        assert several.sharing == ("fair" if name in shared else "fifo")
        assert Cluster.load(name, nodes=2, changes={"sharing": "fifo"}).sharing == "fifo"


@pytest.mark.parametrize(
    ("name", "ranks", "shape"),
    [
        ("gb200-nvl72", 144, "2 nodes of 72 GPUs on a switch, one NIC per GPU on rails"),
        (
            "dgx1-v100",
            16,
            "2 nodes of 8 GPUs in a hybrid cube mesh, 4 NICs for 8 GPUs on rails",
        ),
        ("pcie-2", 4, "2 nodes of 2 GPUs under 1 PCIe switch, 1 NIC for 2 GPUs on one switch"),
        (
            "dgx-h100-fat-tree-2to1",
            16,
            (
                "2 nodes of 8 GPUs on a switch, one NIC per GPU in a fat tree, 4 to a leaf, "
                "oversubscribed 2:1"
            ),
        ),
    ],
)
def test_two_nodes_of_a_preset(name: str, ranks: int, shape: str) -> None:
    """A node of the NVL72 is the rack."""
    cluster = Cluster.load(name, nodes=2)
    assert (cluster.ranks, cluster.shape) == (ranks, shape)


@pytest.mark.parametrize("name", sorted(set(CLUSTERS) - {"textbook-h100"}))
def test_presets_with_fewer_gpus_in_a_node(name: str) -> None:
    """One or two of each node, and so many NICs as they used before."""
    for gpus in (1, 2):
        cluster = Cluster.load(name, nodes=3, gpus_per_node=gpus)
        assert cluster.ranks == 3 * gpus
        assert simulate(build("all_gather", "ring", 3 * gpus), cluster, 1e6).makespan > 0


@pytest.mark.parametrize("nbytes", [0, 1, 2**20, 2**34])
def test_a_ring_over_two_nodes_pays_the_network_in_every_step(nbytes: int) -> None:
    """With alpha_busy = alpha: 2(P-1) = 30 messages of n/16 follow each other on a NIC.

    From GPU 7 to GPU 8 they cross the network (14 us), which no other hop is slower than.
    So the time is 30 (14 us + n/16 / (50 GB/s)).
    """
    cluster = Cluster.load("dgx-h100", nodes=2)
    timeline = simulate(build("all_reduce", "ring", 16), cluster, nbytes)
    assert timeline.makespan == pytest.approx(30 * (14e-6 + nbytes / 16 / 50e9), rel=1e-9)


def test_a_large_ring_over_two_nodes_reaches_the_bandwidth_of_a_nic() -> None:
    """16 GiB at 30/16 bus bytes per byte: within a tenth of a percent of 50 GB/s."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    timeline = simulate(build("all_reduce", "ring", 16), cluster, 2**34)
    assert 0.999 * 50e9 < 2**34 / timeline.makespan * 30 / 16 < 50e9


def test_switches_multicast_as_nccl_reckons() -> None:
    """As NCCL 2.30 says (nvlsEfficiency): Hopper 0.85, Blackwell 0.74, others not."""
    found = {name: Cluster.load(name).in_switch for name in CLUSTERS}
    parts = {name: inside.efficiency for name, inside in found.items() if inside is not None}
    hopper = {n for n in CLUSTERS if n.startswith(("dgx-h", "p5"))}
    blackwell = {n for n in CLUSTERS if n.startswith(("dgx-b", "gb200"))}
    assert parts == dict.fromkeys(hopper, 0.85) | dict.fromkeys(blackwell, 0.74)
