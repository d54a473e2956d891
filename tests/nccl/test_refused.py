"""What NCCL's model refuses, and what logs that say little tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError, UnknownNameError
from collsim.nccl import Communicator, Graph, communicator, log_communicator, parse_log, tuning

RING = Graph(12, 30, 30, type_intra="NVL", pattern=4)
COMM = Communicator(8, 1, 90, {"ring": RING, "tree": RING})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"nodes": 9}, InputError, "9 nodes for 8 ranks"),
        ({"capability": 0}, InputError, "compute capability 0"),
        ({"graphs": {"star": RING}}, UnknownNameError, "unknown graph 'star'"),
        ({"cpu_arch": "arm"}, UnknownNameError, "unknown .* 'arm'; did you mean 'arm64'"),
    ],
)
def test_communicators_that_cannot_be(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Each is told by what is wrong with it."""
    with pytest.raises(error, match=message):
        replace(COMM, **changes)


def test_a_graph_has_no_more_channels_than_nccl() -> None:
    """64 are the most that a search can find."""
    with pytest.raises(InputError, match="channels is 65, expected 0 to 64"):
        Graph(65, 30, 30)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"NCCL_THREAD_THRESHOLDS": "64 64 much"}, "NCCL_THREAD_THRESHOLDS=64 64 much"),
        ({"NCCL_NET_OVERHEAD": "slow"}, "NCCL_NET_OVERHEAD"),
    ],
)
def test_variables_that_say_no_number(variables: dict[str, str], message: str) -> None:
    """NCCL would take something else in their place, and so nothing is foretold."""
    comm = communicator(Cluster.load("dgx-h100", nodes=2))
    with pytest.raises(InputError, match=message):
        tuning(replace(comm, environment=variables)).choice("all_reduce", 2**20)


def test_posting_to_the_network_costs_what_is_set() -> None:
    """NCCL_NET_OVERHEAD is in nanoseconds, and moves the latency between nodes."""
    comm = communicator(Cluster.load("dgx-h100", nodes=2))
    usual, slow = (
        tuning(replace(comm, environment=set_), "2.27").latency_us("all_reduce", "ring", "ll")
        for set_ in ({}, {"NCCL_NET_OVERHEAD": "50000"})
    )
    assert slow > usual + 40


def test_sizes_below_0_are_refused() -> None:
    """And those above what NCCL counts in."""
    table = tuning(COMM)
    for nbytes in (-1, 2**62 + 1):
        with pytest.raises(InputError, match=f"size {nbytes}, expected bytes"):
            table.choice("all_reduce", nbytes)


def test_collectives_that_nccl_does_not_choose_for() -> None:
    """It makes gather of sends and receives."""
    with pytest.raises(InputError, match="NCCL has no choice of algorithm for gather"):
        tuning(COMM).choice("gather", 8)


def test_a_log_that_tells_of_no_communicator() -> None:
    """Ranks, nodes and channels have to be given then."""
    log = parse_log("nothing")
    assert (log.ranks, log.nodes) == (None, None)
    with pytest.raises(InputError, match="does not tell ranks"):
        log_communicator(log, 90)
    assert log_communicator(log, 90, ranks=8, nodes=2, channels=4).nodes == 2


def test_nodes_of_different_size_have_no_model() -> None:
    """NCCL's search looks at one node and takes all for alike."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    uneven = replace(cluster, node=np.array([0] * 7 + [1] * 9))
    with pytest.raises(InputError, match="nodes of different size"):
        communicator(uneven)


def test_links_that_are_no_cables_of_gpus(tmp_path: Path) -> None:
    """A file that lists links by names of its own."""
    path = tmp_path / "mine.toml"
    link = 'alpha = "1us", bandwidth = "10GB/s"}'
    path.write_text(
        'schema = "collsim/cluster/1"\nname = "mine"\nlinks = [\n'
        f'{{name = "a", src = 0, dst = 1, {link},\n{{name = "b", src = 1, dst = 0, {link}]\n'
    )
    with pytest.raises(InputError, match="has no GPUs and cables that NCCL could find"):
        communicator(Cluster.load(str(path)))
