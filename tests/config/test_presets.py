"""Presets: found from anywhere, loaded as they are, and every number says where it is from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collsim.algorithms import algorithm_names, build, find
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
    assert {"textbook-h100", "dgx-h100", "dgx-a100"} <= set(CLUSTERS)
    assert {"nvlink3", "nvlink4", "hdr200", "ndr400"} <= set(LINKS)


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
        ("nvlink3", 3.4e-6, 300e9),  # 12 links of 25 GB/s
        ("nvlink4", 3.4e-6, 450e9),  # 18 links of 25 GB/s
        ("hdr200", 14e-6, 25e9),  # 200 Gb/s
        ("ndr400", 14e-6, 50e9),  # 400 Gb/s
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
        elif key in {"source", "kind", "summary", "schema", "name"} or named:
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
        if find(kind, algorithm).limits(cluster.ranks) is None:
            assert simulate(build(kind, algorithm, cluster.ranks), cluster, 1000).makespan > 0


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS, ids="/".join)
@pytest.mark.parametrize("nbytes", [0, 1, 1000, 2**30])
def test_one_node_obeys_the_formula(name: str, kind: str, algorithm: str, nbytes: int) -> None:
    """Where nothing but a rank's own link is shared, event simulation = formula."""
    cluster = Cluster.load(name)
    assert cluster.uniform is not None
    terms = find(kind, algorithm).terms(cluster.ranks, 1)
    formula = terms.seconds(nbytes, *cluster.uniform, cluster.gamma) + cluster.launch
    simulated = simulate(build(kind, algorithm, cluster.ranks), cluster, nbytes).makespan
    if terms.holds(cluster.gamma):
        assert simulated == pytest.approx(formula, rel=1e-9)
    else:
        assert simulated <= formula * (1 + 1e-9)


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
