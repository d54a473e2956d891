"""Damaged logs: an error of one line, or rows that were there; 500 cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CASES = 300
EXAMPLES = 200
PARTS = (
    "# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor)",
    "# Collective test starting: all_gather_perf",
    "#  Rank  7 Group  0 Pid  7 on node-a device  0 [0x1b] GPU",
    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
    "# bytes N type op time algbw busbw res time algbw busbw res",
    "#  (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)",
    "1048576 262144 float sum -1 20.00 52.43 91.75 0 20.00 52.43 91.75 0",
    "0 0 float sum -1 0.009 0.00 0.00 N/A 9.00 0.00 0.00 1e999",
    "node-a:7:7 [0] NCCL INFO AllGather: 8 Bytes -> Algo RING proto LL",
    "node-a:7:7 [0] NCCL INFO 8 Bytes -> Algo 1 proto 0 time 1.2.3",
    "# OSU MPI-CUDA Allgather Latency Test v5.7",
    "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
    "# Size      Bandwidth (MB/s)",
    "1048576  34.31  33.27  35.07  1000",
    "op_name,nccl_dtype,num_gpus,message_size,latency",
    "all_reduce,half,8,512,0.01",
    "nranks,algo,proto,collective,bytes,seconds",
    "2,Ring,LL,p2p,1024,0.00001",
    "collective,ranks,size,seconds,count,root,wrong,nodes",
    "broadcast,2,1024,1e-5,1,-1,0,3",
    '{"schema": "collsim/measurements/1", "library": "x"}',
    '{"collective": "all_reduce", "ranks": 2, "size": 8, "seconds": 1e-6, "root": []}',
    '{"nccl_version": 23007, "config": {"devices": [{"rank": 0}]}, "results": [',
    '{"size": 8, "count": 2, "type": "float", "root": "0", "out_of_place": {"time": 1}}',
    "]}",
    "\0\ufffd\x1b[31m",
)


@pytest.fixture(scope="module")
def fuzz(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the benchmark that does the same for longer."""
    return by_path("benchmarks/fuzz_importers.py")


def test_damaged_logs(fuzz: ModuleType, data: Path, tmp_path: Path) -> None:
    """Of every format: cut, shuffled, doubled, mixed, noisy."""
    logs = fuzz.logs_of(data)
    result = fuzz.run(logs, CASES, 7, tmp_path / "damaged.log")
    assert result.failures == []
    assert (result.cases, result.read + result.refused) == (CASES, CASES)
    assert min(result.read, result.refused, result.rows, result.left_out) > CASES / 10


LINES = st.lists(st.sampled_from(PARTS) | st.text(max_size=40), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "", "\n\n"])


@given(lines=LINES, end=ENDS)
@settings(max_examples=EXAMPLES)
def test_pieces_of_every_format_in_any_order(
    fuzz: ModuleType, tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str
) -> None:
    """Rows that can be true, or an error of one line."""
    path = tmp_path_factory.getbasetemp() / "pieces.log"
    found = fuzz.attempt([line + end for line in lines], path)
    assert fuzz.complaint(found, None) is None
