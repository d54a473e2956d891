"""Pictures of clusters: what is in them, and that they are the same each time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from collsim.config.presets import preset_names
from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.plot.cables import legend_rows
from collsim.plot.cluster import plot_cluster
from collsim.plot.places import BOX, NIC_DROP, place


def words(cluster: Cluster) -> list[str]:
    """Return all text of a picture."""
    return [text.get_text() for text in plot_cluster(cluster).axes[0].texts]


def test_two_nodes_on_rails() -> None:
    """16 GPUs, two switches, 16 NICs, eight leaf switches, two classes of links."""
    text = words(Cluster.load("dgx-h100", nodes=2))
    assert [text.count(f"GPU {r}") for r in range(16)] == [1] * 16
    assert text.count("NIC") == 16
    assert {"switch[0]", "switch[1]", "leaf[0]", "leaf[7]", "node 0", "node 1"} <= set(text)
    assert "nvlink4: 450 GB/s each way, α 3.4 µs a message; 32 links" in text
    assert "ndr400: 50 GB/s each way, α 14 µs a message; 32 links" in text


def test_many_nodes_are_summarised() -> None:
    """The first and the last, which are the furthest apart; so all of the network is seen."""
    text = words(Cluster.load("dgx-h100-fat-tree-2to1", nodes=64))
    assert {"node 0", "node 63", "… 62 more nodes\nlike these", "spine[0]"} <= set(text)
    assert "node 1" not in text


def test_many_gpus_are_summarised() -> None:
    """Eight of 72."""
    text = words(Cluster.load("gb200-nvl72"))
    assert "… 64 more\nGPUs" in text
    assert "GPU 8" not in text


def test_meshes_stand_on_a_circle_and_trees_in_rows() -> None:
    """A GPU above every other one is a circle; devices of a tree are over their GPUs."""
    mesh = place(Cluster.load("dgx1-v100"))
    assert mesh.round
    assert len({round(spot.y, 6) for spot in mesh.spots.values()}) > 2
    cluster = Cluster.load("pcie-8")
    tree = place(cluster)
    ups = {cluster.vertex(v).partition("[")[0]: spot.y for v, spot in tree.spots.items()}
    assert ups["gpu"] < ups["switch"] < ups["bridge"] < ups["socket"]


def test_links_that_differ_from_their_class_say_so() -> None:
    """A quarter of the bandwidth is left of one, nothing of another."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    links = cluster.links
    beta = links.beta.copy()
    beta[links.names.index("nic[3].up")] *= 4
    beta[links.names.index("nic[5].up")] = np.inf
    text = words(replace(cluster, links=replace(links, beta=beta)))
    assert (text.count("25%"), text.count("failed")) == (1, 1)


def test_an_ideal_network_has_a_link_for_every_two() -> None:
    """It has no devices."""
    text = words(Cluster.load("textbook-h100"))
    assert text[-1].endswith("every two GPUs have one of their own")


@pytest.mark.parametrize("name", preset_names("clusters"))
@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_no_two_boxes_overlap_and_all_are_in_the_picture(name: str, nodes: int) -> None:
    """For every preset; frames hold all that belongs to a node."""
    if name == "textbook-h100" and nodes > 1:
        return
    try:
        cluster = Cluster.load(name, nodes=nodes)
    except (InputError, ValueError):
        assert nodes > 1
        return
    places = place(cluster)
    boxes = list(places.spots.values())
    for i, one in enumerate(boxes):
        for two in boxes[i + 1 :]:
            apart = abs(one.x - two.x) >= (one.width + two.width) / 2 - 1e-9
            assert apart or abs(one.y - two.y) >= BOX - 1e-9, (one, two)
    left, low, right, high = places.extent
    assert right - left < 25
    assert high - low < 10
    assert all(left <= s.x - s.width / 2 and s.x + s.width / 2 <= right for s in boxes)
    for a, b in zip(places.frames, places.frames[1:], strict=False):
        assert a[2] < b[0]
    assert NIC_DROP > BOX


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_picture_each_time(tmp_path: Path, kind: str) -> None:
    """To the byte."""
    cluster = Cluster.load("pcie-8")
    for name in "ab":
        plot_cluster(cluster, tmp_path / f"{name}.{kind}")
    one, two = (tmp_path / f"{name}.{kind}" for name in "ab")
    assert one.read_bytes() == two.read_bytes()


def test_classes_differ_without_colour() -> None:
    """Dashes or width: a copy in grey tells them apart."""
    cluster = Cluster.load("dgx1-v100", nodes=2)
    styles = [style for style, _ in legend_rows(cluster, place(cluster))]
    assert len({style["color"] for style in styles}) == 4
    assert len({str(style["linestyle"]) for style in styles}) == 4


def test_another_ending_is_refused(tmp_path: Path) -> None:
    """Before anything is drawn."""
    with pytest.raises(InputError, match=r"expected a name that ends in \.png"):
        plot_cluster(Cluster.load("pcie-8"), tmp_path / "a.gif")
