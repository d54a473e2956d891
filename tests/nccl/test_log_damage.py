"""Damaged logs: no line takes long, and no damage raises."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from collsim.nccl import parse_log

INFO = "host-1:10:11 [0] NCCL INFO "
LONG = 200_000


@pytest.mark.parametrize(
    "line",
    [
        "1" * LONG + " Bytes -> ",
        INFO + "1" * LONG + " Bytes -> ",
        "a" * LONG,
        "a.b-" * (LONG // 4),
        INFO + "A" * LONG + ": 1 Bytes -> x",
        INFO + "A [" * (LONG // 3) + " Bytes -> ",
        INFO + "A [A] " * (LONG // 6) + " Bytes -> ",
        "-" * LONG + "|",
        INFO + "-" * LONG + "|",
        "1:" * (LONG // 2),
        "[0] a" * (LONG // 5),
        "a:1:1 [0] " * (LONG // 10),
        INFO * (LONG // len(INFO)),
        INFO + " " * LONG + "x",
        INFO + "AllReduce |" + " 1.0/1.0 |" * (LONG // 10),
        INFO + "AllReduce |" + "1" * LONG + "|",
        INFO + "Algorithm |" + "A" * LONG + "|",
        INFO + "NCCL_" * (LONG // 5) + " set by",
        INFO + "Enabled NCCL Func/Proto/Algo Matrix:\n" + "a" * LONG + " |",
        INFO + "comm 0x" * (LONG // 7),
        INFO + "1 coll channels, " * (LONG // 17),
    ],
    ids=range(21),
)
def test_long_lines_take_time_in_proportion(line: str) -> None:
    """200,000 characters of anything are read in about 0.1 s; squared they take minutes."""
    begun = time.process_time()
    log = parse_log(line)
    assert time.process_time() - begun < 3
    assert all(len(problem.reason) <= 300 for problem in log.problems)


def test_no_damage_raises() -> None:
    """A real log, 2,000 times damaged in a few places each."""
    sample = Path(__file__).parent / "data" / "nccl_tuning_table_2_ranks_one_gpu.log"
    text = sample.read_text()
    text += "\n".join(
        [
            INFO + "Latency/AlgBw |    Tree/    LL |    Ring/Simple |",
            INFO + " Max NThreads |            512 |            512 |",
            INFO + "    AllReduce |     1.0/   0.0 |    16.5/1174.4 |",
            INFO + "Pattern 4, crossNic 0, nChannels 12, bw 30.0/20.5, type NVL/PIX, "
            "sameChannels 1",
            INFO + "comm 0x1f rank 0 nRanks 8 nNodes 1",
            INFO + "AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}",
            INFO + "1024 Bytes -> Algo 1 proto 2 time 12.5",
            INFO + "Enabled NCCL Func/Proto/Algo Matrix:",
            "Function |       LL |   Tree   Ring",
            "AllReduce |      1 |      1      1",
        ]
    )
    draw = random.Random(5)
    for _ in range(2000):
        start = draw.randrange(len(text))
        some = text[start : start + draw.choice([300, 1500, 6000])]
        for _ in range(draw.randrange(1, 8)):
            at, wide_ = draw.randrange(len(some)), draw.randrange(4)
            new = draw.choice(["", ".", "-", "|", "/", "0", "9" * 20, "nan", " ", "\n", "\x00"])
            some = (some[:at] + new + some[at + wide_ :]) or " "
        parse_log(some)
