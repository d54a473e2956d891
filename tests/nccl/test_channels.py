"""Channels that NCCL gives a call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.nccl import Communicator, Graph, communicator, tuning

NEAR = {"type_intra": "NVL", "type_inter": "PXB"}
H100 = communicator(Cluster.load("dgx-h100"))


@pytest.mark.parametrize(
    ("algorithm", "protocol", "step"),
    [
        ("ring", "ll", 512 * 8 * 8),
        ("tree", "ll", 512 * 8),
        ("ring", "ll128", 640 * 8),
        ("ring", "simple", 512 * 64),
        ("tree", "simple", 512 * 64),
    ],
)
def test_each_channel_has_bytes_for_its_threads(
    algorithm: str, protocol: str, step: int
) -> None:
    """8 bytes a thread of LL, for every rank of a ring; 64 of Simple."""
    table = tuning(H100)
    for channels in (2, 3, 24):
        assert table.channels("all_reduce", algorithm, protocol, channels * step) == channels
        below = table.channels("all_reduce", algorithm, protocol, channels * step - 1)
        assert below == channels - 1
    assert table.channels("all_reduce", algorithm, protocol, 2**33) == 24
    assert table.channels("all_reduce", algorithm, protocol, 1) == 1


def test_slow_rings_use_half_the_threads() -> None:
    """Rings no faster than PCIe 3.0 x16."""
    slow = Graph(2, 6, 6, type_intra="PIX", pattern=4)
    fast = replace(slow, bw_intra=7)
    for ring, most in ((slow, 256), (fast, 512)):
        table = tuning(Communicator(2, 1, 80, {"ring": ring, "tree": ring}))
        assert table.threads("ring", "simple").most == most


def test_nvls_has_channels_of_its_own() -> None:
    """16 on Hopper, whatever the size."""
    table = tuning(H100)
    assert [table.channels("all_reduce", "nvls", "simple", n) for n in (1, 2**30)] == [16, 16]


@pytest.mark.parametrize(
    ("environment", "threads"),
    [
        ({"NCCL_NTHREADS": "256"}, 256),
        ({"NCCL_NTHREADS": "100"}, 512),
        ({"NCCL_NTHREADS": "1024"}, 512),
        ({"NCCL_NTHREADS": "32"}, 64),
    ],
)
def test_threads_that_are_asked_for(environment: dict[str, str], threads: int) -> None:
    """Whole warps within limits, else the most."""
    table = tuning(replace(H100, environment=environment))
    assert table.threads("ring", "ll").most == threads


def test_bytes_that_are_asked_for() -> None:
    """NCCL_THREAD_THRESHOLDS: LL, LL128, Simple of trees, then of rings."""
    table = tuning(replace(H100, environment={"NCCL_THREAD_THRESHOLDS": "1 2 3 4 -2 6"}))
    pairs = [("tree", "ll"), ("tree", "simple"), ("ring", "ll"), ("ring", "ll128")]
    assert [table.threads(a, p).bytes_each for a, p in pairs] == [1, 3, 4, 8]


def test_what_is_no_number_is_refused() -> None:
    """One line that names the variable."""
    table = tuning(replace(H100, environment={"NCCL_NTHREADS": "many"}))
    with pytest.raises(InputError, match="NCCL_NTHREADS=many: expected a whole number"):
        table.choice("all_reduce", 8)


def test_collnet_direct_gives_channels_up_reluctantly() -> None:
    """Down to 16 at the threshold, to 8 at a smaller one, and to 1 at last."""
    graphs = {
        "ring": Graph(16, 20, 20, pattern=4, **NEAR),
        "tree": Graph(16, 20, 20, pattern=1, **NEAR),
        "collnet_direct": Graph(8, 20, 20, pattern=6, **NEAR),
        "collnet_chain": Graph(16, 20, 20, pattern=3, **NEAR),
    }
    comm = Communicator(16, 2, 90, graphs, collnet=True, collnet_heads=8, channels=32)
    table = tuning(comm)
    full = 32 * 640 * 8 * 512
    found = [
        table.channels("all_reduce", "collnet_direct", "simple", n) for n in (full, full - 1)
    ]
    assert found == [32, 31]
    assert table.channels("all_reduce", "collnet_direct", "simple", 1) == 1
    last = 0
    for n in range(0, full + 1, full // 999):
        channels = table.channels("all_reduce", "collnet_direct", "simple", n)
        assert channels >= last
        last = channels
    ranges = tuning(replace(comm, environment={"NCCL_ALGO": "collnetdirect"})).ranges(
        "all_reduce", 1, full
    )
    for r in ranges:
        for n in (r.min_bytes, r.max_bytes):
            assert table.channels("all_reduce", "collnet_direct", "simple", n) == r.channels


def test_channels_that_are_asked_for() -> None:
    """NCCL_MAX_CTAS and its older names; NVLS goes along."""
    cluster = Cluster.load("dgx-h100")
    few = communicator(cluster, environment={"NCCL_MAX_CTAS": "8"})
    assert (few.channels, few.nvls_channels) == (8, 8)
    assert communicator(cluster, environment={"NCCL_MIN_NCHANNELS": "32"}).channels == 32
    with pytest.raises(InputError, match="NCCL_MAX_CTAS=-1: expected a whole number"):
        communicator(cluster, environment={"NCCL_MAX_CTAS": "-1"})


def test_nvls_that_is_off() -> None:
    """NCCL_NVLS_ENABLE=0: no graph and no channels."""
    off = communicator(Cluster.load("dgx-h100"), environment={"NCCL_NVLS_ENABLE": "0"})
    assert ("nvls" in off.graphs, off.nvls_channels) == (False, 0)


@pytest.mark.parametrize(
    ("version", "protocol", "launched"),
    [("2.30", "simple", 3), ("2.28", "simple", 4), ("2.30", "ll", 4), ("2.22", "ll", 4)],
)
def test_a_launched_channel_has_traffic(version: str, protocol: str, launched: int) -> None:
    """32 KiB, an all_reduce sending each byte twice; 16 KiB before 2.29.

    140,000 bytes may use 4 channels: 70,000 of traffic each. In cells of 16 KiB there are 9,
    3 a channel; in cells of 8 KiB there are 18, 5 a channel.
    """
    table = tuning(H100, version)
    assert table.channels("all_reduce", "ring", protocol, 140_000) == 4
    assert table.launched("all_reduce", "ring", protocol, 140_000) == launched
    assert table.launched("all_reduce", "ring", protocol, 1) == 1
    assert table.launched("all_reduce", "ring", protocol, 2**28) == 24


def test_channels_of_a_communicator() -> None:
    """Twice those of the search; twice again over nodes, if there are few and fast."""
    fast = Graph(4, 48, 48, pattern=4, **NEAR)
    two = {"ring": fast, "tree": fast}
    assert Communicator(16, 2, 90, two).channels == 16
    assert Communicator(16, 2, 80, two).channels == 8
    assert Communicator(8, 1, 90, two).channels == 8
    assert (
        Communicator(8, 1, 90, {"ring": replace(fast, channels=32), "tree": fast}).channels == 8
    )
