"""NCCL topology XML: dumps, and files written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import FileError


def rates(cluster: Cluster, src: int, dst: int) -> list[tuple[str, float, float]]:
    """Return class, alpha in us and GB/s of every link of a route."""
    links = cluster.links
    return [
        (
            links.classes[links.kind[i]].name,
            round(float(links.alpha[i]) * 1e6, 6),
            round(1e-9 / float(links.beta[i]), 3),
        )
        for i in cluster.route(src, dst)
    ]


def test_nvlinks_to_switches_add_up(load: Any) -> None:
    """5 + 5 + 4 + 4 links of 25 GB/s to four switches are one of 450; H100's multicast."""
    found, cluster = load("hopper_nvswitch.xml")
    assert (found.shape, cluster.ranks, cluster.multicast) == ("switch", 4, True)
    assert rates(cluster, 0, 3) == [("nvlink4", 3.4, 450.0), ("nvlink4", 0.0, 450.0)]


def test_cards_become_rails(load: Any, tmp_path: Any) -> None:
    """Four cards of 400,000 Mb/s, one per GPU; one node unless more are asked for."""
    found, cluster = load("hopper_nvswitch.xml")
    assert cluster.nodes == 1
    two = Cluster.load(tmp_path / "cluster.toml", nodes=2)
    assert rates(two, 1, 5) == [("net400", 14.0, 50.0), ("net400", 0.0, 50.0)]
    assert [(link.name, count) for link, count in found.links] == [
        ("nvlink4", 8),
        ("net400", 8),
    ]


def test_links_between_gpus_make_a_mesh(load: Any) -> None:
    """Four NVLinks of 25 GB/s between every two A100."""
    found, cluster = load("ampere_mesh.xml")
    assert found.shape == "full_mesh"
    assert rates(cluster, 3, 1) == [("nvlink3x4", 3.4, 100.0)]
    assert "PCIe, which no message between GPUs crosses" in found.left_out


def test_pci_classes_alone_make_a_tree(load: Any) -> None:
    """16 lanes of 16 GT/s less 128b/130b are 31.508 GB/s; between AMD CPUs NCCL's 16."""
    found, cluster = load("cloud_pci_only.xml")
    assert (found.shape, cluster.ranks) == ("pcie_tree", 8)
    assert rates(cluster, 0, 1) == [("pcie4", 5.7, 31.51), ("pcie4", 0.0, 31.51)]
    far = rates(cluster, 0, 7)
    assert far[0] == ("pcie4", 5.7, 31.51)
    assert min(rate for _, _, rate in far) == 16.0
    assert sum(alpha for _, alpha, _ in far) == 5.7
    assert any("NVLink, which a file without gpu elements" in said for said in found.left_out)
    assert any(said.startswith("ranks in the order of bus id") for said in found.assumed)


def test_ranks_follow_the_file_then_the_bus_id(load: Any) -> None:
    """With ranks in the file they count; without, bus ids, whatever comes first."""
    pci = '<pci busid="{}" class="0x030200">{}</pci>'
    gpus = pci.format("0:1", '<gpu dev="0" sm="80" rank="1"/>')
    gpus += pci.format("0:2", '<gpu dev="1" sm="80" rank="0"/>')
    found, _ = load(f"<system><cpu>{gpus}</cpu></system>".encode())
    assert "# ranks: 0 is GPU 0:2, 1 is GPU 0:1" in found.text
    gpus = pci.format("0:2", "") + pci.format("0:1", "")
    found, _ = load(f"<system><cpu>{gpus}</cpu></system>".encode())
    assert "# ranks: 0 is GPU 0:1, 1 is GPU 0:2" in found.text


def test_what_has_no_shape_is_listed(load: Any) -> None:
    """Two GPUs on 8 lanes of a switch, one beside it; each message pays alpha once."""
    found, cluster = load("uneven_tree.xml")
    assert found.shape == "links"
    assert rates(cluster, 0, 2) == [
        ("pcie3", 5.7, 15.75),
        ("pcie3x8_onward", 0.0, 7.877),
        ("pcie3_onward", 0.0, 15.75),
    ]
    assert "8 GT/s and 16 lanes of PCIe where the file has none, as NCCL does" in found.assumed


def test_ranks_on_one_gpu_share_its_memory(load: Any) -> None:
    """NCCL's own dump of two ranks on one H200; its figure for what is local."""
    found, cluster = load("nccl_topology_dump_2_ranks_one_gpu.xml")
    assert found.shape == "switch"
    assert rates(cluster, 0, 1) == [("memory", 5.7, 5000.0), ("memory", 0.0, 5000.0)]


def test_a_gpu_in_between_comes_before_pcie(load: Any) -> None:
    """0-1 and 1-2 have NVLink, 0-2 not: its messages pass GPU 1, as NCCL's do."""
    links = {0: (1,), 1: (0, 2), 2: (1,)}
    text = "".join(
        f'<pci busid="0:{a}" class="0x030200" link_speed="8 GT/s" link_width="16">'
        f'<gpu dev="{a}" sm="70" rank="{a}">'
        + "".join(f'<nvlink target="0:{b}" count="2" tclass="0x030200"/>' for b in bs)
        + "</gpu></pci>"
        for a, bs in links.items()
    )
    _, cluster = load(f"<system><cpu>{text}</cpu></system>".encode())
    assert [name for name, _, _ in rates(cluster, 0, 2)] == ["nvlink2x2", "nvlink2x2"]


def test_a_card_is_no_faster_than_its_slot(load: Any) -> None:
    """400 Gb/s in 8 lanes of PCIe 3: 7.877 GB/s."""
    text = (
        '<system><cpu><pci busid="0:1" class="0x030200"><gpu dev="0" sm="80"/></pci>'
        '<pci busid="0:2" class="0x020000" link_speed="8 GT/s" link_width="8">'
        '<nic><net name="a" speed="400000"/></nic></pci></cpu></system>'
    )
    found, _ = load(text.encode())
    assert "a is held back by its own pcie3x8 link" in found.assumed
    assert round(found.links[-1][0].bandwidth / 1e9, 3) == 7.877


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<cpu/>", "NCCL topology XML of 0 GPUs, expected 1 to 256"),
        (
            '<cpu><pci busid="a" class="0x030200"><gpu dev="x"/></pci></cpu>',
            "line 1: gpu: dev is 'x', expected a whole number from 0 to 1000000000",
        ),
        (
            '<cpu><pci busid="a" class="0x030200"/><pci busid="A" class="0x030200"/></cpu>',
            "line 1: pci: busid is 'A', expected one that no other device has",
        ),
        ('<cpu><pci class="0x030200"/></cpu>', "line 1: pci: busid is missing"),
        (
            "".join(
                f'<cpu host_hash="{h}"><pci busid="a" class="0x0302"/></cpu>' for h in "12"
            ),
            "nothing in it joins GPU a to GPU a",
        ),
        ("<cpu/>" * 300, "line 1: system: holds 300 CPUs, expected at most 256"),
        (
            '<cpu><pci busid="a"><gpu><nvlink tclass="0x068000" count="-1"/></gpu></pci></cpu>',
            "line 1: nvlink: count is '-1', expected a whole number from 1 to 1000",
        ),
    ],
)
def test_bad_files_are_refused_in_a_line(load: Any, body: str, message: str) -> None:
    """With the place, where there is one."""
    with pytest.raises(FileError) as error:
        load(f"<system>{body}</system>".encode())
    assert str(error.value).endswith(f"given: {message}")
