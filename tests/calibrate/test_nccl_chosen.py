"""What NCCL's log says it chose, in the wording of every version."""

from __future__ import annotations

import pytest

from collsim.calibrate.nccl_chosen import Chosen, ChosenLine, chosen_in

PREFIX = "node-a:7:9 [0] NCCL INFO "


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "1048576 Bytes -> Algo 1 proto 2 time 25.500000",
            ChosenLine(None, 1048576, False, "ring", "simple", seconds=2.55e-05),
        ),
        (
            "AllGather: 4096 Bytes -> Algo 6 proto 0 time 9.1",
            ChosenLine("all_gather", 4096, False, "pat", "ll", seconds=9.1e-06),
        ),
        (
            "ReduceScatter: 512 Bytes -> Algo NVLS_TREE proto LL128 channel{Lo..Hi}={0..15}",
            ChosenLine("reduce_scatter", 512, True, "nvls_tree", "ll128", (0, 15)),
        ),
        (
            "AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0} cgaClusterSize 4",
            ChosenLine("all_reduce", 8, True, "tree", "ll", (0, 0)),
        ),
        (
            "AllReduce [Symmetric]: 8 Bytes -> Kernel AllReduce_AGxLL_R nchannels 1",
            ChosenLine("all_reduce", 8, True, "symmetric", None, kernel="AllReduce_AGxLL_R"),
        ),
        (
            "AllGather [Copy Engine]: 64 Bytes -> cudaMemcpyAsync",
            ChosenLine("all_gather", 64, True, "copy_engine", None),
        ),
    ],
)
def test_every_wording(line: str, expected: ChosenLine) -> None:
    """2.20 by number, 2.23 with a name, 2.24 in words, 2.31 with the cluster size."""
    assert chosen_in(PREFIX + line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "AllReduce: 8 Bytes",
        "AllReduce: 8 Bytes -> Algo 9 proto 0 time 1",
        "AllReduce: 8 Bytes -> Algo 0 proto 3 time 1",
        "AllReduce: 8 Bytes -> Algo SQUARE proto LL",
        "AllReduce: 8 Bytes -> Algo RI",
        "SendRecv: 8 Bytes -> Algo RING proto LL",
        "AllReduce: -8 Bytes -> Algo RING proto LL",
        "8.5 Bytes -> Algo RING proto LL",
    ],
)
def test_what_is_no_choice(line: str) -> None:
    """A cut line, an unknown name or number."""
    assert chosen_in(PREFIX + line) is None


def test_bytes_are_of_one_rank_from_2_24_on() -> None:
    """The same all_gather of 4096 bytes on 8 ranks, told by both kinds of version."""
    for line in ("AllGather: 512 Bytes -> Algo RING proto LL ", "4096 Bytes -> Algo 1 proto 0"):
        chosen = Chosen()
        choice = chosen_in(line)
        assert choice is not None
        chosen.add(choice)
        assert chosen.of("all_gather", 4096, 512) == (("ring", "ll"),)
        assert chosen.of("all_gather", 512, 64) == ()


def test_several_lines_of_one_call_are_one_choice() -> None:
    """One per range of channels."""
    chosen = Chosen()
    assert not chosen
    for channels in ("{0..3}", "{4..7}"):
        choice = chosen_in(
            f"AllReduce: 8 Bytes -> Algo RING proto LL channel{{Lo..Hi}}={channels}"
        )
        assert choice is not None
        chosen.add(choice)
    assert chosen
    assert chosen.of("all_reduce", 8, 8) == (("ring", "ll"),)
