"""A communicator from a cluster: the graphs that NCCL's search would find."""

from __future__ import annotations

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.nccl import communicator, tuning


@pytest.mark.parametrize(
    ("name", "size", "ring", "channels"),
    [
        ("dgx-h100", {}, (12, 30, "NVL"), 24),
        ("dgx-h100", {"ranks": 2}, (12, 30, "NVL"), 24),
        ("dgx-h100", {"nodes": 2}, (8, 48, "NVL"), 16),
        ("dgx-a100", {}, (12, 20, "NVL"), 24),
        ("dgx-a100", {"nodes": 2}, (8, 24, "NVL"), 16),
        ("dgx1-v100", {}, (6, 20, "NVL"), 12),
        ("dgx-b200", {}, (16, 45, "NVL"), 32),
        ("pcie-2", {}, (2, 12, "PIX"), 4),
    ],
)
def test_rings(
    name: str, size: dict[str, int], ring: tuple[int, float, str], channels: int
) -> None:
    """12 rings of 30 GB/s on a DGX H100 (published log 195); 12 of 20 on a DGX A100."""
    comm = communicator(Cluster.load(name, **size))
    found = comm.graphs["ring"]
    assert (found.channels, found.bw_intra, found.type_intra) == ring
    assert comm.channels == channels


def test_trees_and_nvls_of_a_dgx_h100() -> None:
    """Trees as rings; 370.8 GB/s between 9 of NVLS leaves 40 each."""
    comm = communicator(Cluster.load("dgx-h100"))
    tree, nvls = comm.graphs["tree"], comm.graphs["nvls"]
    assert (tree.channels, tree.bw_intra, tree.pattern) == (12, 30, 1)
    assert (nvls.channels, nvls.bw_intra) == (8, 40)
    assert comm.nvls_channels == 16


def test_one_gpu_a_node_has_no_inside() -> None:
    """Trees of pattern 3, twice as fast inside as the card."""
    comm = communicator(Cluster.load("dgx-h100", nodes=2, gpus_per_node=1))
    tree = comm.graphs["tree"]
    assert (tree.type_intra, tree.pattern, tree.bw_intra, tree.bw_inter) == ("LOC", 3, 48, 24)
    assert "nvls" not in comm.graphs


def test_a_plugin_that_tells_a_latency() -> None:
    """75 us of EFA go into all steps between nodes."""
    efa = communicator(Cluster.load("p5-efa", nodes=2))
    infiniband = communicator(Cluster.load("dgx-h100", nodes=2))
    late = tuning(efa).latency_us("all_reduce", "ring", "ll")
    # Two steps of a ring cross nodes.
    assert late == pytest.approx(
        tuning(infiniband).latency_us("all_reduce", "ring", "ll") + 2 * 75
    )


def test_where_the_numbers_come_from() -> None:
    """Sentences for the reader."""
    comm = communicator(Cluster.load("dgx-h100", nodes=2))
    assert "dgx-h100: NVLink of generation 4, 370.8 GB/s out of a GPU" in comm.origin[0]
    assert any(said.startswith("8 cards ndr400 a node, 48 GB/s each") for said in comm.origin)


@pytest.mark.parametrize(
    ("cluster", "reason"),
    [
        (Cluster.load("mi300x"), "joined by xgmi4, and NCCL runs on NVIDIA's"),
        (Cluster.load("textbook-h100"), "no GPUs and cables that NCCL could find"),
        (Cluster.ideal(8, "10us", "450GB/s"), "no GPUs and cables that NCCL could find"),
    ],
)
def test_where_nccl_would_not_run(cluster: Cluster, reason: str) -> None:
    """Refused with the reason."""
    with pytest.raises(InputError, match=reason):
        communicator(cluster)
