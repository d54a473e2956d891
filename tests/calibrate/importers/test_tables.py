"""Tables of comma-separated values: nccl_perf's, seconds per call, and our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.calibrate.importer import Importer, ReadOptions
from collsim.calibrate.importers import (
    measurements_csv,
    nccl_perf_csv,
    read_log,
    seconds_csv,
)
from collsim.core.measurements import Measurements
from collsim.errors import FileError

PERF = "op_name,nccl_dtype,num_gpus,message_size,latency,version,device\n"
SECONDS = "nranks,algo,proto,collective,bytes,seconds\n"
OURS = "collective,ranks,size,seconds\n"
GOOD = {
    PERF: "all_reduce,half,8,512,0.01,2.29.2,Made-up GPU\n",
    SECONDS: "2,Ring,LL128,all_reduce,1024,0.00001\n",
    OURS: "all_reduce,8,1024,1e-5\n",
}
IMPORTERS = {
    PERF: nccl_perf_csv.IMPORTER,
    SECONDS: seconds_csv.IMPORTER,
    OURS: measurements_csv.IMPORTER,
}


def parse(importer: Importer, text: str, file: str = "a.csv", **how: object) -> Measurements:
    """Read a table from memory."""
    options = ReadOptions(**how)  # type: ignore[arg-type]
    return importer.read(file, text.splitlines(keepends=True), options)


def test_elements_of_two_types_and_milliseconds() -> None:
    """512 of half are 1024 bytes, 512 of int8 are 512; their type stays with them."""
    text = PERF + GOOD[PERF] + "alltoall,int8,4,512,0.00898,2.29.2,Made-up GPU\n"
    rows = parse(nccl_perf_csv.IMPORTER, text, gpus_per_node=4)
    found = [(r.collective, r.dtype, r.nbytes, r.seconds, r.ranks, r.nodes) for r in rows]
    assert found == [
        ("all_reduce", "half", 1024, 1e-5, 8, 2),
        ("all_to_all", "int8", 512, 8.98e-6, 4, 1),
    ]
    source = rows.rows[0].source
    assert (source.version, source.device) == ("NCCL 2.29.2", "Made-up GPU")


def test_forced_algorithms_and_the_clock_of_the_name() -> None:
    """Spelled as in NCCL's tuner files; one message one way is no exchange."""
    text = SECONDS + GOOD[SECONDS] + "2,NVLSTree,Simple,allreduce,8,1e-6\n,".rstrip(",")
    text += "2,,,p2p,8,1e-6\n2,,,sendrecv,8,1e-6\n"
    rows = parse(seconds_csv.IMPORTER, text, "x/run_device_time.csv")
    assert [(r.collective, r.algorithm, r.protocol) for r in rows] == [
        ("all_reduce", "ring", "ll128"),
        ("all_reduce", "nvls_tree", "simple"),
        ("sendrecv", "p2p", None),
        ("sendrecv", None, None),
    ]
    assert rows.rows[0].source.clock == "device"
    assert rows.notes == ("x/run_device_time.csv: times of the device, by the file's name",)
    assert parse(seconds_csv.IMPORTER, text).rows[0].source.clock is None


def test_our_own_with_every_column() -> None:
    """Semicolons and quotes as spreadsheets write them; a stranger is named."""
    text = (
        "\ufeffCollective;Ranks;Nodes;Size;Count;Dtype;Op;Root;Algorithm;Protocol;In_place;"
        "Wrong;time_us;Library;Clock;process_model;device;backend;protcol\r\n"
        'allgather;4;2;4096;256;float;;;"bruck:radix=4";ll;true;0;12.5;NCCL 2.30.7;device;'
        "one process;Made-up GPU;nccl;x\r\n"
    )
    rows = parse(measurements_csv.IMPORTER, text)
    (row,) = rows
    assert (row.collective, row.ranks, row.nodes, row.nbytes) == ("all_gather", 4, 2, 4096)
    assert (row.algorithm, row.protocol, row.in_place) == ("bruck:radix=4", "ll", True)
    assert (row.seconds, row.count, row.op, row.root) == (1.25e-5, 256, None, None)
    source = row.source
    assert (source.version, source.clock, source.backend) == ("NCCL 2.30.7", "device", "nccl")
    assert rows.notes == ("a.csv: column 'protcol' is not read; did you mean protocol?",)


@pytest.mark.parametrize("head", [PERF, SECONDS, OURS], ids=["perf", "seconds", "ours"])
def test_tables_that_follow_each_other(head: str) -> None:
    """Heads repeat where files were joined; comments and empty lines are passed over."""
    text = f"# a comment\n\n{head}{GOOD[head]}{head}\n{GOOD[head]}"
    rows = parse(IMPORTERS[head], text)
    assert [row.source.line for row in rows] == [4, 7]
    assert rows.left_out == ()


@pytest.mark.parametrize("head", [PERF, SECONDS, OURS], ids=["perf", "seconds", "ours"])
def test_a_cut_row_is_left_out(head: str) -> None:
    """Wherever it was cut: no number may lose its end unseen."""
    row = GOOD[head].rstrip("\n")
    for end in range(1, len(row)):
        rows = parse(IMPORTERS[head], head + GOOD[head] + row[:end])
        whole = len(rows) == 2
        assert whole == (head == PERF and row[:end].count(",") == row.count(","))
        assert len(rows.left_out) == (not whole)


@pytest.mark.parametrize(
    ("head", "row", "reason"),
    [
        (PERF, "all_reduce,quad,8,512,0.01,2,x", "nccl_dtype 'quad' is no type of nccl-tests"),
        (PERF, "all_reduce,half,8,5.12e2,0.01,2,x", "message_size '5.12e2', expected a whole"),
        (PERF, "all_reduce,half,8,512,-0.01,2,x", "latency '-0.01', expected a number from 0"),
        (PERF, "all_reduce,half,8,512,nan,2,x", "latency 'nan', expected a number from 0 up"),
        (PERF, "all_reduce,half,0,512,0.01,2,x", "ranks: got 0, expected"),
        (PERF, "hypercube,half,8,512,0.01,2,x", "unknown collective 'hypercube'"),
        (PERF, "all_reduce,half,8,536870912,0.01,2,x", "more than any memory moves"),
        (PERF, "all_reduce,half,8,9223372036854775807,0.01,2,x", "more bytes than there are"),
        (SECONDS, "2,,,all_reduce,1024,0", "a time of 0 cannot be true"),
        (SECONDS, "2,,,all_reduce,1024", "5 cells, expected 6"),
        (SECONDS, "2,,,all_reduce,,1e-5", "bytes '', expected a whole number"),
        (OURS, "all_reduce,8,1.05E+06,1e-5", "size '1.05E+06', expected a whole number"),
        (OURS, "all_reduce,8,1024,1e-5us", "seconds '1e-5us', expected a number from 0 up"),
        (OURS, ",8,1024,1e-5", "collective: is missing, expected text"),
    ],
)
def test_rows_that_cannot_be_used(head: str, row: str, reason: str) -> None:
    """File, line and reason; the others stay."""
    rows = parse(IMPORTERS[head], f"{head}{row}\n{GOOD[head]}")
    assert len(rows) == 1
    (left,) = rows.left_out
    assert left.line == 2
    assert reason in left.reason


def test_predictions_are_no_measurements(tmp_path: Path) -> None:
    """`predict --csv` has a column that says which model made them."""
    path = tmp_path / "a.csv"
    path.write_text("collective,ranks,size,model,time_us\nall_reduce,8,8,event,1\n")
    with pytest.raises(FileError, match="no measurements in a known format"):
        read_log(path)


def test_a_time_without_a_unit_is_no_time(tmp_path: Path) -> None:
    """`time` alone may be anything."""
    path = tmp_path / "a.csv"
    path.write_text("collective,ranks,size,time\nall_reduce,8,8,1\n")
    with pytest.raises(FileError, match="no measurements in a known format"):
        read_log(path)


def test_messages_between_ranks_are_no_collective() -> None:
    """As `calibrate measure --csv` marks them; ping-pong is one message one way."""
    text = "pattern,collective,ranks,size,algorithm,time_us,runs\n"
    text += "ping_pong,sendrecv,2,1024,direct,40.0,\n"
    text += "shift,sendrecv,4,1024,,90.0,\nself,,4,1024,,9.0,\n"
    text += "collective,all_reduce,4,1024,mst,90.0,schedule\n"
    found = parse(measurements_csv.IMPORTER, text)
    assert [(row.collective, row.algorithm) for row in found] == [
        ("sendrecv", "p2p"),
        ("all_reduce", "mst"),
    ]
    assert [str(left.reason) for left in found.left_out] == [
        "shift, messages between ranks: no collective",
        "self, messages between ranks: no collective",
    ]
    assert found.notes == ()
