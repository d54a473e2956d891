"""NCCL_ALGO and NCCL_PROTO, and what NCCL switches off itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.nccl import Communicator, Graph, Tuning, communicator, tuning
from collsim.nccl._enable import parse_list
from collsim.nccl.names import ALGORITHMS


def table(version: str = "2.30", nodes: int = 1, **environment: str) -> Tuning:
    """Return the table of DGX H100 with these variables."""
    cluster = Cluster.load("dgx-h100", nodes=nodes)
    return tuning(communicator(cluster, environment=environment), version)


def available(found: Tuning, collective: str) -> set[str]:
    """Return the algorithms with any bandwidth."""
    return {a for c, a, p in found.cells if c == collective and found.bandwidth(c, a, p)}


def test_all_that_is_there() -> None:
    """One node: no tree of NVLS; two: NVLS alone needs a collective network."""
    assert available(table(), "all_reduce") == {"tree", "ring", "nvls"}
    assert available(table(nodes=2), "all_reduce") == {"tree", "ring", "nvls_tree"}
    assert available(table(), "all_gather") == {"ring", "nvls"}
    assert available(table(), "broadcast") == {"ring"}


def test_only_some_algorithms() -> None:
    """For all collectives, in any case."""
    found = table(NCCL_ALGO="TREE,nvls")
    assert available(found, "all_reduce") == {"tree", "nvls"}
    assert available(found, "all_gather") == {"nvls"}


def test_all_but_some() -> None:
    """A caret."""
    assert available(table(NCCL_ALGO="^ring"), "all_reduce") == {"tree", "nvls"}


def test_a_list_for_one_collective() -> None:
    """After a colon; the others have what comes without."""
    found = table(NCCL_ALGO="ring;allreduce:tree", NCCL_PROTO="^LL;AllReduce:Simple")
    assert available(found, "all_reduce") == {"tree"}
    assert available(found, "all_gather") == {"ring"}
    assert found.choice("all_reduce", 8).protocol == "simple"
    assert found.choice("all_gather", 8).protocol == "ll128"


def test_before_functions_were_known() -> None:
    """2.23 passes over words that it does not know."""
    assert available(table("2.23", NCCL_ALGO="wheel,tree"), "all_reduce") == {"tree"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ring;tree", "'tree' names no collective"),
        ("wheel", "'wheel', expected one of tree, ring, collnetdirect"),
        ("alltoall:ring", "expected one of broadcast, reduce"),
        ("allredcue:ring", "did you mean"),
    ],
)
def test_what_nccl_refuses(text: str, reason: str) -> None:
    """One line that names the variable."""
    with pytest.raises(InputError, match=reason) as error:
        parse_list("NCCL_ALGO", text, ALGORITHMS)
    assert "NCCL_ALGO" in str(error.value)


def test_nothing_left_is_refused_as_in_nccl() -> None:
    """Trees don't broadcast; from 2.24 on that is an error."""
    with pytest.raises(InputError, match="left for broadcast of float, with NCCL_ALGO=tree"):
        table(NCCL_ALGO="tree").choice("broadcast", 8)


@pytest.mark.parametrize("version", ["2.18.6", "2.19", "2.22", "2.23"])
def test_ring_stays_in_older_releases(version: str) -> None:
    """So that programs run with NCCL_ALGO=TREE."""
    found = table(version, NCCL_ALGO="tree")
    assert found.choice("broadcast", 8).algorithm == "ring"
    assert found.choice("all_reduce", 8).algorithm == "tree"


@pytest.mark.parametrize(
    ("capability", "type_intra", "type_inter", "on"),
    [
        (60, "NVL", "PIX", False),
        (70, "NVL", "PXB", True),
        (80, "NVB", "PXB", True),
        (80, "PIX", "PXB", False),
        (80, "NVL", "PXN", False),
        (90, "NVL", "PXN", True),
        (90, "NVL", "PHB", False),
    ],
)
def test_ll128_needs_near_paths(
    capability: int, type_intra: str, type_inter: str, on: bool
) -> None:
    """NVLink inside, no CPU on the way out; through a neighbour's GPU from Hopper on."""
    ring = Graph(8, 20, 20, type_intra=type_intra, type_inter=type_inter, pattern=4)
    comm = Communicator(16, 2, capability, {"ring": ring, "tree": ring})
    assert (tuning(comm).bandwidth("all_reduce", "ring", "ll128") > 0) is on


def test_ll128_of_unlike_gpus() -> None:
    """From 2.30 on, where all are Hopper or newer."""
    ring = Graph(8, 20, 20, type_intra="NVL", pattern=4)
    comm = Communicator(16, 2, 90, {"ring": ring, "tree": ring}, most_capability=100)
    rates = [tuning(comm, v).bandwidth("all_reduce", "ring", "ll128") for v in ("2.29", "2.30")]
    assert [rate > 0 for rate in rates] == [False, True]


def test_pat_is_for_one_rank_a_node() -> None:
    """By default; NCCL_PAT_ENABLE says otherwise."""
    one = communicator(Cluster.load("dgx-h100", nodes=4, gpus_per_node=1))
    assert "pat" in available(tuning(one), "all_gather")
    assert "pat" not in available(tuning(one, "2.22"), "all_gather")
    off = replace(one, environment={"NCCL_PAT_ENABLE": "0"})
    assert "pat" not in available(tuning(off), "all_gather")
    assert "pat" in available(table(nodes=2, NCCL_PAT_ENABLE="1"), "all_gather")


def test_what_the_switch_can_add() -> None:
    """Floats are only summed; all_gather adds nothing."""
    found = table()
    big = 2**28
    assert found.choice("all_reduce", big).algorithm == "nvls"
    assert found.choice("all_reduce", big, op="max").algorithm != "nvls"
    assert found.choice("all_reduce", big, dtype="half", op="max").algorithm == "nvls"
    assert found.choice("all_reduce", big, dtype="int8").algorithm != "nvls"
    only = table(NCCL_ALGO="nvls")
    assert only.choice("all_gather", big, dtype="int8").algorithm == "nvls"


def test_rings_of_many_come_last_for_eight_bits() -> None:
    """Sums over more than 8 ranks lose too much."""
    found = table(nodes=2)
    assert found.choice("all_reduce", 2**33, dtype="fp8_e4m3").algorithm == "tree"
    plain = found.choice("all_gather", 2**20)
    scaled = found.choice("all_gather", 2**20, dtype="fp8_e4m3")
    assert scaled.time_us == 1024 * plain.time_us


def test_one_rank_needs_no_choice() -> None:
    """Ring and Simple, at no cost."""
    comm = Communicator(1, 1, 90, {})
    choice = tuning(comm).choice("all_reduce", 2**20)
    assert (choice.algorithm, choice.protocol, choice.time_us) == ("ring", "simple", 0.0)
