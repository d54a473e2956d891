"""OSU micro-benchmark tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log
from collsim.calibrate.importers.osu import IMPORTER
from collsim.core.measurements import Measurements
from collsim.errors import FileError

AVERAGE = "# Size       Avg Latency(us)\n"
FULL = "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"


def parse(text: str, **options: object) -> Measurements:
    """Read a table from memory."""
    lines = text.splitlines(keepends=True)
    return IMPORTER.read("a.txt", lines, ReadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "collective", "nbytes"),
    [
        ("MPI-CUDA Allreduce Latency Test v5.7", "all_reduce", 4096),
        ("MPI Broadcast Latency Test v7.3", "broadcast", 4096),
        ("MPI Reduce Latency Test v5.9", "reduce", 4096),
        ("MPI Reduce_scatter Latency Test v5.9", "reduce_scatter", 4096),
        ("MPI Allgather Latency Test v5.9", "all_gather", 32768),
        ("NCCL-CUDA Allgather Latency Test v7.5", "all_gather", 32768),
        ("MPI All-to-All Personalized Exchange Latency Test v7.1", "all_to_all", 32768),
        ("MPI-ROCM Gather Latency Test v6.0", "gather", 32768),
        ("MPI Scatter Latency Test", "scatter", 32768),
    ],
)
def test_size_becomes_that_of_the_full_buffer(title: str, collective: str, nbytes: int) -> None:
    """One rank's part times the ranks where MPI counts parts."""
    rows = parse(f"# OSU {title}\n{AVERAGE}4096        34.31\n", ranks=8, gpus_per_node=4)
    (row,) = rows
    assert (row.collective, row.nbytes, row.seconds) == (collective, nbytes, 3.431e-5)
    assert (row.ranks, row.nodes, row.source.line) == (8, 2, 3)
    assert row.source.backend == ("nccl" if "NCCL" in title else "mpi")


def test_one_message_one_way_is_no_exchange() -> None:
    """osu_latency: two ranks, whatever was started; device or host memory."""
    text = "# OSU MPI-CUDA Latency Test v5.6.2\n"
    text += "# Send Buffer on {0} (X) and Receive Buffer on {0}\n"
    text += "# Size          Latency (us)\n0              0.50\n8             0.75\n"
    for place, backend in (("DEVICE", "mpi"), ("HOST", "mpi, host memory")):
        rows = parse(text.format(place))
        assert [(r.nbytes, r.seconds, r.ranks) for r in rows] == [(0, 5e-7, 2), (8, 7.5e-7, 2)]
        assert rows.values("algorithm") == ("p2p",)
        assert rows.rows[0].source.backend == backend


def test_bandwidth_is_of_many_messages_at_once() -> None:
    """Megabytes of 1e6; two directions are halved; another clock than a latency's."""
    head = "# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)        Validation\n"
    text = f"# OSU MPI-CUDA Bandwidth Test v7.5\n{head}1000000   20000.00   Pass\n"
    text += (
        f"# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.5\n{head}1000000  20000.00  Pass\n"
    )
    text += "2000000  20000.00  Fail\n"
    rows = parse(text)
    assert [(row.seconds, row.algorithm) for row in rows] == [(5e-5, "p2p"), (1e-4, None)]
    assert rows.rows[0].source.clock == "host, many messages at once"
    assert rows.rows[0].dtype == "int8"
    assert [left.reason for left in rows.left_out] == ["wrong results: validation failed"]


def test_the_command_tells_the_ranks() -> None:
    """With prefixes, more columns, and the type after the head."""
    text = "$ mpirun -x A=1 -np 16 ./osu_allreduce -d cuda\n"
    text += f"# OSU MPI-CUDA Allreduce Latency Test v7.1\n{FULL}# Datatype: MPI_FLOAT.\n"
    text += "4       34.31     33.27     35.07     1000\n"
    text += "8       34.31     35.27     36.07     1000\n"
    rows = parse("".join(f"[1,0]<stdout>:{line}" for line in text.splitlines(keepends=True)))
    assert [(row.ranks, row.dtype, row.nbytes) for row in rows] == [(16, "float", 4)]
    assert rows.left_out[0].reason == "an average of 34.31 us outside of 35.27 to 36.07"


def test_tails_and_non_blocking_calls() -> None:
    """The time of a call is chosen by name."""
    text = "# OSU MPI Non-blocking Allreduce Latency Test v7.1\n"
    text += "# Size   Overall(us)   Compute(us)   Pure Comm.(us)   Overlap(%)\n"
    text += "8 9.00 5.00 4.00 20\n"
    text += "# OSU MPI Allreduce Latency Test v7.1\n"
    text += "# Size  Avg Latency(us)  P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)\n"
    text += "8 3.00 2.00 4.00 5.00\n"
    rows = parse(text, ranks=4)
    assert [(row.seconds, row.source.clock) for row in rows] == [
        (4e-6, "host, non-blocking"),
        (3e-6, "host"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "# OSU MPI Allgatherv Latency Test v5.7\n{}8 1.00\n",
            "no model of OSU's Allgatherv Lat",
        ),
        ("# OSU MPI Multi Latency Test v5.7\n{}8 1.00\n", "no model of OSU's Multi Latency"),
        ("# OSU MPI Allreduce Latency Test\n{}8 1.00 7\n", "3 cells, expected 2"),
        ("# OSU MPI Allreduce Latency Test\n{}8 0.00\n", "a time of 0 cannot be true"),
        ("# OSU MPI Allreduce Latency Test\n{}8 1.0", "no line end, so its time may be cut"),
        ("# OSU MPI Allreduce Latency Test\n{}8 nan\n", "latency 'nan', expected a number"),
        ("# OSU MPI Allreduce Latency Test\n{}-8 1.0\n", "size '-8', expected a whole number"),
        (
            "# OSU MPI Allgather Latency Test\n{}9000000000000000000 1.0\n",
            "9000000000000000000 b",
        ),
        ("8 1.00\n# OSU MPI Allreduce Latency Test\n", "a row before the head of its table"),
    ],
)
def test_rows_that_cannot_be_used(text: str, reason: str) -> None:
    """Each with its reason; the good ones stay."""
    good = f"# OSU MPI Allreduce Latency Test v5.7\n{AVERAGE}8 1.00\n"
    rows = parse(
        text.format(AVERAGE) + "\n" + good
        if text.endswith("\n")
        else good + text.format(AVERAGE),
        ranks=8,
    )
    assert len(rows) == 1
    assert reason in rows.left_out[0].reason


def test_without_a_rank_count_it_is_asked_for() -> None:
    """No number of a table tells it."""
    with pytest.raises(
        FileError, match="does not tell the number of ranks; say it with ranks=, --ranks"
    ):
        parse(f"# OSU MPI Allreduce Latency Test v5.7\n{AVERAGE}8 1.00\n")


def test_another_unit_is_refused() -> None:
    """Milliseconds would be a thousandfold off."""
    with pytest.raises(FileError, match=r"line 2: a column in \(ms\), expected \(us\) or"):
        parse("# OSU MPI Allreduce Latency Test\n# Size    Avg Latency(ms)\n8 1.00\n", ranks=8)


@pytest.mark.parametrize(("name", "ranks"), [("inter_anode_2", 16), ("intra_anode_8", 8)])
def test_real_tables(shared_data: Path, name: str, ranks: int) -> None:
    """24 sizes each."""
    (path,) = (shared_data / "public").glob(f"*osu*{name}*")
    rows = read_log(path, ReadOptions(ranks=ranks))
    assert (len(rows), rows.left_out) == (24, ())
    assert rows.rows[0].source.version == "MPI-CUDA, OSU 5.7"
