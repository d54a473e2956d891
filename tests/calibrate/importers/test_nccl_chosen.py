"""What NCCL's log says it chose, looked up by the rows of its run."""

from __future__ import annotations

import pytest

from collsim.calibrate.importers._nccl_chosen import Choices
from collsim.nccl.log import chosen_line

CHANNELS = "channel{Lo..Hi}={0..3}"


@pytest.mark.parametrize(
    ("line", "choice"),
    [
        ("AllReduce [Symmetric]: 8 Bytes -> Kernel AllReduce_AGxLL_R nchannels 1 nthreads 512",
         ("symmetric", None)),
        ("AllReduce [Copy Engine]: 8 Bytes -> cudaMemcpyAsync", ("copy_engine", None)),
        (f"AllReduce: 8 Bytes -> Algo TREE proto LL {CHANNELS}", ("tree", "ll")),
        ("8 Bytes -> Algo 1 proto 2 time 25.500000", ("ring", "simple")),
    ],
)  # fmt: skip
def test_every_kind_of_choice(line: str, choice: tuple[str, str | None]) -> None:
    """By number, in words, and where none of the algorithms ran."""
    choices, found = Choices(), chosen_line(line)
    assert found is not None
    choices.add(found)
    assert choices.of("all_reduce", 8, 8) == (choice,)


def test_bytes_are_of_one_rank_from_2_24_on() -> None:
    """The same all_gather of 4096 bytes on 8 ranks, told by both kinds of version."""
    for line in (
        f"AllGather: 512 Bytes -> Algo RING proto LL {CHANNELS}",
        "4096 Bytes -> Algo 1 proto 0 time 9.1",
    ):
        chosen = Choices()
        choice = chosen_line(line)
        assert choice is not None
        chosen.add(choice)
        assert chosen.of("all_gather", 4096, 512) == (("ring", "ll"),)
        assert chosen.of("all_gather", 512, 64) == ()


def test_several_lines_of_one_call_are_one_choice() -> None:
    """One per range of channels."""
    chosen = Choices()
    assert not chosen
    for channels in ("{0..3}", "{4..7}"):
        choice = chosen_line(
            f"AllReduce: 8 Bytes -> Algo RING proto LL channel{{Lo..Hi}}={channels}"
        )
        assert choice is not None
        chosen.add(choice)
    assert chosen
    assert chosen.of("all_reduce", 8, 8) == (("ring", "ll"),)
