"""What is known before measuring, and what NCCL chooses by it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from collsim.calibrate.nccl_model import Selector, System, preset_named, system_named, system_of
from collsim.calibrate.nccl_model.devices import _KNOWN
from collsim.calibrate.nccl_model.system import _communicator
from collsim.core.cluster import Cluster
from collsim.core.profile import NCCL_KEYS
from collsim.errors import InputError, UnknownNameError

A100 = System("ampere", 12, 240.0)
H100 = System("hopper", 12, 360.0, nvls=True)


@pytest.mark.parametrize(
    ("system", "collective", "ranks", "before", "size", "piece"),
    [
        # Where public tables jump: 19 us at 512 KiB, 41 us at 1 MiB.
        (A100, "all_reduce", 2, ("ring", "ll"), 2**20, ("ring", "simple")),
        (A100, "all_gather", 8, ("ring", "ll"), 2**22, ("ring", "ll128")),
        (H100, "all_reduce", 8, ("ring", "ll"), 2**21, ("nvls", "simple")),
    ],
)
def test_choices_change_where_measured_times_jump(
    system: System, collective: str, ranks: int, before: tuple[str, str], size: int,
    piece: tuple[str, str],
) -> None:  # fmt: skip
    """NCCL's own constants tell it, and nothing is fitted."""
    assert system.choice(collective, ranks, 1, size // 2) == before
    assert system.choice(collective, ranks, 1, size) == piece


@pytest.mark.parametrize(
    ("cluster", "device"),
    [("dgx-a100", "NVIDIA A100-SXM4-80GB"), ("dgx-h100", "NVIDIA H100 80GB HBM3"),
     ("dgx-h200", "NVIDIA H200"), ("dgx-b200", "NVIDIA B200"),
     ("gh200-slingshot", "NVIDIA GH200 120GB")],
)  # fmt: skip
def test_a_gpu_tells_what_its_usual_machine_does(cluster: str, device: str) -> None:
    """Architecture, channels, bandwidth and switches; and which machine that is."""
    assert preset_named(device) == cluster
    one, other = system_of(Cluster.load(cluster)), system_named(device)
    assert other is not None
    for key in ("architecture", "channels", "intra_bus", "inside", "nvls", "uniform"):
        assert getattr(one, key) == getattr(other, key), key


def test_pcie_cards_of_the_same_name_are_no_switch() -> None:
    """An A100 in a slot is joined as an L40S is."""
    assert system_named("NVIDIA A100-PCIE-40GB") == system_named("NVIDIA L40S")
    assert system_named("NVIDIA L40S").uniform is False  # type: ignore[union-attr]
    assert preset_named("NVIDIA L40S") == "pcie-8"
    assert len(_KNOWN) == 8


def test_several_nodes_have_a_network() -> None:
    """Of all their cards; a single one has none, and can't be asked for two nodes."""
    assert system_of(Cluster.load("gh200-slingshot", nodes=4)).inter_bus == 96.0
    with pytest.raises(InputError, match="2 nodes: the system has no network"):
        H100.choice("all_reduce", 16, 2, 1024)


def test_belief_in_more_bandwidth_changes_protocols_earlier() -> None:
    """A selector's factors act on the bandwidth of the graph."""
    system = System("hopper", 12, 360.0, inter_bus=100.0)
    sizes = [2**k for k in range(10, 31)]

    def simple(scale: float) -> int:
        pieces = [system.choice("all_gather", 32, 8, n, Selector(scale)) for n in sizes]
        return sum(p == "simple" for _, p in pieces)

    counts = [simple(scale) for scale in (2.0, 1.0, 0.25)]
    assert all(a >= b for a, b in pairwise(counts)) or all(a <= b for a, b in pairwise(counts))
    assert counts[0] != counts[-1]


def test_what_cannot_be_is_refused() -> None:
    """By name and value."""
    with pytest.raises(UnknownNameError, match="architecture"):
        System("hoper", 12, 360.0)
    with pytest.raises(InputError, match="channels"):
        System("hopper", 0, 360.0)


def test_a_profile_holds_every_field() -> None:
    """Of the system and of how NCCL's table is read."""
    fields = {*System.__dataclass_fields__, *Selector.__dataclass_fields__, "noise"}
    assert fields == set(NCCL_KEYS)


def test_cards_that_are_the_cpus_carry_no_ll128() -> None:
    """Its stores must arrive whole, which Slingshot's cards do not promise."""
    assert not system_of(Cluster.load("gh200-slingshot", nodes=2)).ll128_network
    assert system_of(Cluster.load("dgx-h100", nodes=2)).ll128_network


def graphs(
    system: System, ranks: int, nodes: int, selector: Selector
) -> dict[str, tuple[Any, ...]]:
    """Return channels, GB/s of each inside and between nodes, and pattern, by algorithm."""
    return {
        name: (one.channels, one.bw_intra, one.bw_inter, one.pattern)
        for name, one in _communicator(system, ranks, nodes, selector).graphs.items()
    }


def test_graphs_share_the_bandwidth_out_to_channels() -> None:
    """12 channels of 240 GB/s in a node; of 48 GB/s over nodes, and of more on two."""
    one = System("ampere", 12, 240.0)
    assert graphs(one, 8, 1, Selector(0.5)) == {
        "ring": (12, 10.0, 10.0, 4), "tree": (12, 10.0, 10.0, 1),
    }  # fmt: skip
    many = System("ampere", 12, 240.0, inter_bus=48.0)
    assert graphs(many, 8, 1, Selector(0.5)) == {
        "ring": (12, 20.0, 20.0, 4), "tree": (12, 20.0, 20.0, 1),
    }  # fmt: skip
    assert graphs(many, 16, 2, Selector(0.5, 2.0, 3.0)) == {
        "ring": (12, 4.0, 2.0, 4), "tree": (12, 12.0, 2.0, 1),
    }  # fmt: skip
    assert graphs(many, 24, 3, Selector(0.5, 2.0, 3.0)) == {
        "ring": (12, 2.0, 2.0, 4), "tree": (12, 2.0, 2.0, 1),
    }  # fmt: skip
    # A scale of 0 takes no table: it is read as it stands.
    assert graphs(many, 24, 3, Selector(0.0)) == graphs(many, 24, 3, Selector(1.0))


def test_switches_that_reduce_have_a_graph_of_heads() -> None:
    """60 GB/s a channel on Hopper, 120 on Blackwell, if the GPUs' links give as much."""
    for name, bus, each in (
        ("hopper", 360.0, 60.0), ("hopper", 180.0, 30.0), ("blackwell", 1440.0, 120.0),
        ("blackwell", 600.0, 100.0), ("ampere", 900.0, 60.0),
    ):  # fmt: skip
        system = System(name, 12, bus, nvls=True)
        assert graphs(system, 8, 1, Selector())["nvls"] == (8, each, each, 5)
    far = System("hopper", 12, 360.0, inter_bus=400.0, nvls=True)
    assert graphs(far, 16, 2, Selector())["nvls"] == (8, 60.0, 50.0, 5)
    assert graphs(far, 128, 2, Selector())["nvls"] == (32, 15.0, 12.5, 5)
    assert "nvls" not in graphs(far, 4, 4, Selector())


def test_what_nccl_is_told_of_the_machine() -> None:
    """Paths, channels, processors and switches."""
    found = _communicator(System("hopper", 12, 360.0, nvls=True), 8, 1, Selector())
    assert (found.ranks, found.nodes, found.capability, found.channels) == (8, 1, 90, 24)
    assert (found.nvls_channels, found.cpu_vendor, found.nvswitch) == (16, "intel", True)
    assert {(one.type_intra, one.type_inter) for one in found.graphs.values()} == {
        ("NVL", "PIX")
    }
    other = System("volta", 40, 12.0, "pci", 9.0, uniform=False, amd=True, ll128_network=False)
    found = _communicator(other, 8, 2, Selector())
    assert (found.capability, found.channels, found.nvls_channels) == (70, 64, 0)
    assert (found.cpu_vendor, found.nvswitch) == ("amd", False)
    assert {(one.type_intra, one.type_inter) for one in found.graphs.values()} == {
        ("PHB", "SYS")
    }
    (inside,) = {
        one.type_inter for one in _communicator(other, 4, 1, Selector()).graphs.values()
    }
    assert inside == "PIX"
    assert not _communicator(System("volta", 2, 9.0, uniform=False), 4, 1, Selector()).nvswitch


def test_how_many_nodes_ranks_take_where_nobody_says() -> None:
    """As many as hold them, of a system that has several and whose GPUs are counted."""
    many = System("ampere", 12, 240.0, inter_bus=50.0, gpus=8)
    assert [many.nodes_of(ranks, None) for ranks in (1, 8, 9, 17)] == [1, 1, 2, 3]
    assert many.nodes_of(8, 4) == 4
    for system in (
        System("ampere", 12, 240.0, gpus=8),
        System("ampere", 12, 240.0, inter_bus=1.0),
    ):
        assert system.nodes_of(17, None) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"channels": 0}, "channels: got 0, expected above 0"),
        ({"intra_bus": 0.0}, "intra_bus: got 0.0, expected above 0"),
        ({"inter_bus": -1.0}, "inter_bus: got -1.0, expected 0 or more"),
        ({"inside": "nvlnk"}, "link inside a node 'nvlnk'"),
    ],
)
def test_numbers_that_cannot_be_are_refused(changes: dict[str, Any], said: str) -> None:
    """By name and value."""
    with pytest.raises((InputError, UnknownNameError), match=said):
        replace(A100, **changes)
