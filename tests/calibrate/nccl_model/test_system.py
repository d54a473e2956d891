"""What is known before measuring, and what NCCL chooses by it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from collsim.calibrate.nccl_model import Selector, System, system_named, system_of
from collsim.calibrate.nccl_model.devices import _KNOWN
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
     ("dgx-b200", "NVIDIA B200"), ("gh200-slingshot", "NVIDIA GH200 120GB")],
)  # fmt: skip
def test_a_gpu_tells_what_its_usual_machine_does(cluster: str, device: str) -> None:
    """Architecture, channels, bandwidth and switches."""
    one, other = system_of(Cluster.load(cluster)), system_named(device)
    assert other is not None
    for key in ("architecture", "channels", "intra_bus", "inside", "nvls", "uniform"):
        assert getattr(one, key) == getattr(other, key), key


def test_pcie_cards_of_the_same_name_are_no_switch() -> None:
    """An A100 in a slot is joined as an L40S is."""
    assert system_named("NVIDIA A100-PCIE-40GB") == system_named("NVIDIA L40S")
    assert system_named("NVIDIA L40S").uniform is False  # type: ignore[union-attr]
    assert len(_KNOWN) == 5


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
