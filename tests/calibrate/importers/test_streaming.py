"""Large logs and mixed ones: memory does not grow, and no table is lost in silence."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log, stream_log
from collsim.calibrate.importers.nccl_tests import IMPORTER
from collsim.core.measurements import LeftOut, Measurement

OSU = "# OSU MPI Broadcast Latency Test v5.7\n# Size       Avg Latency(us)\n8      1.00\n"
MOST = 3 << 20  # bytes that reading may hold


def quiet(log: str) -> Iterator[str]:
    """Yield a log with 25 MB of NCCL's own lines between the rows."""
    for line in log.splitlines(keepends=True):
        for channel in range(5000 if line.startswith(" ") else 1):
            yield f"node-a:7:9 [0] NCCL INFO Channel {channel:02d}/24 : 0 1 {'x' * 90}\n"
            if channel % 100 == 0:
                yield f"AllReduce: {channel} Bytes -> Algo RING proto LL NCCL INFO\n"
        yield line


def test_memory_does_not_grow_with_what_is_between_the_rows(synthetic: ModuleType) -> None:
    """A gigabyte is measured by benchmarks/import_memory.py."""
    log = synthetic.log("all_reduce", 8, alpha=1e-6, beta=1e-11)
    tracemalloc.start()
    found = IMPORTER.read("a.log", quiet(log), ReadOptions())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 62
    assert peak < MOST


def test_a_log_can_be_read_without_keeping_it(data: Path) -> None:
    """The same rows, reasons and notes as otherwise, one at a time."""
    path = data / "old_all_reduce.txt"
    whole = read_log(path)
    found = list(stream_log(path))
    assert tuple(one for one in found if isinstance(one, Measurement)) == whole.rows
    assert tuple(one for one in found if isinstance(one, LeftOut)) == whole.left_out
    assert tuple(one for one in found if isinstance(one, str)) == whole.notes


def test_two_programs_in_one_file(write: Callable[..., str], synthetic: ModuleType) -> None:
    """A job that ran nccl-tests and OSU, in any order: the rows of both."""
    log = synthetic.log("all_reduce", 8, alpha=1e-6, beta=1e-11)
    for text in (log + OSU + OSU, OSU + log + OSU):
        found = read_log(write(text), ReadOptions(ranks=4))
        assert found.left_out == ()
        assert Counter(row.collective for row in found) == {"all_reduce": 62, "broadcast": 2}
        assert {row.source.line for row in found if row.collective == "broadcast"} == {
            number for number, line in enumerate(text.splitlines(), 1) if line == "8      1.00"
        }


def test_a_table_of_another_kind_of_file_is_named(write: Callable[..., str]) -> None:
    """Comma-separated values after a log are not read as a log."""
    path = write(f"{OSU}nranks,algo,proto,collective,bytes,seconds\n2,,,p2p,8,1e-6\n")
    found = read_log(path, ReadOptions(ranks=4))
    assert len(found) == 1
    kind = "CSV of nranks, algo, proto, collective, bytes, seconds"
    assert list(map(str, found.left_out)) == [
        f"{path}:4: a table of another format, {kind}: put it in its own file"
    ]
