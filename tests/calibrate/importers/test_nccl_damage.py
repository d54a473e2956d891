"""nccl-tests' text output: rows that cannot be used, logs that do not say enough, damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log, read_logs
from collsim.calibrate.importers.nccl_tests import IMPORTER
from collsim.core.measurements import Measurements
from collsim.errors import FileError, InputError

read = IMPORTER.read

HEAD = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
RANKS = (
    "#  Rank  0 Group  0 Pid  7 on node-a device  0 [0x1b] GPU\n"
    "#  Rank  1 Group  0 Pid  8 on node-a device  1 [0x43] GPU\n"
)
START = "# Collective test starting: {}_perf\n"
GOOD = "20.00  52.43  52.43  0"
ROW = "  1048576  262144  float  sum  -1  " + GOOD + "  " + GOOD + "\n"


def parse(text: str, **options: object) -> Measurements:
    """Read a log from memory."""
    return read("a.log", text.splitlines(), ReadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("half", "reason"),
    [
        ("20.00  52.43  52.43  7", "7 elements are wrong"),
        ("0.00  52.43  52.43  0", "a time of 0.00 us cannot be true"),
        (
            "20.00  60.00  60.00  0",
            "algbw 60.00 does not follow from 1048576 bytes in 20.00 us",
        ),
        ("20.00  52.43  78.65  0", "busbw / algbw = 78.65/52.43 does not fit 2 ranks"),
        ("0.01  104858  104858  0", "1048576 bytes in 0.01 us are more than any memory moves"),
        ("N/A  N/A  N/A  N/A", "time N/A, algbw N/A, busbw N/A: expected numbers"),
        ("20.00  nan  inf  0", "time 20.00, algbw nan, busbw inf: expected numbers"),
    ],
)
def test_a_half_that_cannot_be_true_is_left_out(half: str, reason: str) -> None:
    """The other half stays; file, line and reason are kept."""
    row = f"1048576 262144 float sum -1 {GOOD} {half}\n"
    rows = parse(START.format("all_reduce") + RANKS + HEAD + ROW + row)
    assert [(r.in_place, r.source.line) for r in rows] == [(False, 5), (True, 5), (False, 6)]
    assert [str(left) for left in rows.left_out] == [f"a.log:6: in place: {reason}"]


def test_one_rank_in_place_is_no_work(data: Path) -> None:
    """A real log of one rank: in place 1 GiB takes 0.2 us."""
    rows = read_log(str(data / "nccl_tests_1gpu_all_reduce.txt"))
    assert rows.values("ranks") == (1,)
    assert not any(row.in_place for row in rows)
    assert (len(rows), len(rows.left_out)) == (10, 10)
    assert rows.left_out[0].reason == (
        "in place: one rank in place moves nothing, so the time is of no work"
    )


def test_one_rank_has_no_bus_bandwidth() -> None:
    """A number there cannot be true."""
    rank = RANKS.splitlines(keepends=True)[0]
    with pytest.raises(FileError, match=r"one rank has no bus bandwidth, got 52\.43 GB/s"):
        parse(START.format("all_reduce") + rank + HEAD + ROW)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("  1048576  262144  float  sum  -1  20.00  52", "cut after 3 numbers, expected time"),
        ("  1048576  262144  float", "cut after 0 numbers, expected time"),
        ("  1048576  2621", "a row cut before its type"),
        ("  366.5  1.43  2.74  0  340.8  1.54  2.95  0", "half a row, without its size"),
    ],
)
def test_a_cut_row_is_reported(line: str, reason: str) -> None:
    """Wherever it was cut."""
    rows = parse(START.format("all_reduce") + RANKS + HEAD + ROW + line + "\n")
    assert [left.line for left in rows.left_out] == [6]
    assert rows.left_out[0].reason.startswith(reason)


def test_two_rows_on_one_line_are_two_rows() -> None:
    """A line end was lost."""
    rows = parse(START.format("all_reduce") + RANKS + HEAD + ROW.rstrip() + ROW)
    assert len(rows) == 4


def test_a_collective_without_a_model_is_left_out() -> None:
    """Hypercube has no counterpart; its rows are named."""
    text = START.format("hypercube") + RANKS + ROW + START.format("all_reduce") + RANKS + ROW
    rows = parse(text)
    assert [left.reason for left in rows.left_out] == ["no model of the collective hypercube"]


def test_what_the_numbers_do_not_tell_is_asked_for() -> None:
    """all_reduce on two ranks and sendrecv look the same."""
    row = ROW.replace("52.43  0", "52.43  N/A")
    with pytest.raises(FileError) as caught:
        parse(RANKS + HEAD + row)
    assert str(caught.value) == (
        "a.log: line 4: the log does not tell all_reduce and sendrecv apart; "
        "say which with collective=, --collective"
    )


def test_the_name_of_the_file_may_tell(
    write: Callable[..., str], synthetic: ModuleType
) -> None:
    """all_gather and all_to_all have the same columns and factor, if nothing was checked."""
    lines = synthetic.rows("all_gather", 8, 1e-6, 1e-11)
    text = "\n".join(line.replace("      0", "    N/A") for line in lines)
    rows = read_log(write(text, "node8_alltoall.log"))
    assert rows.values("collective") == ("all_to_all",)
    assert rows.notes[0].endswith("all_to_all, by its columns and the file's name")
    with pytest.raises(FileError, match="tell all_gather and all_to_all apart"):
        read_log(write(text, "x.log"))


def test_what_the_log_says_wins_over_the_caller() -> None:
    """A head is not overruled."""
    rows = parse(START.format("all_reduce") + RANKS + ROW, collective="sendrecv", ranks=7)
    assert (rows.values("collective"), rows.values("ranks")) == (("all_reduce",), (2,))


def test_a_file_without_a_row_is_an_error(write: Callable[..., str]) -> None:
    """A run that failed after its head."""
    path = write(START.format("all_reduce") + RANKS + "Test NCCL failure common.cu:1012\n")
    with pytest.raises(FileError) as caught:
        read_log(path)
    line = (START.format("all_reduce") + RANKS).count("\n") + 1
    assert str(caught.value) == (
        f"{path}: no row of measurements, expected nccl-tests lines of size, count, type, "
        f"times (1 left out: {path}:{line}: the run ended with an error: Test NCCL failure "
        "common.cu:1012)"
    )


def test_a_file_of_no_known_format_is_an_error(write: Callable[..., str]) -> None:
    """The known formats are named."""
    path = write("hello\n")
    with pytest.raises(FileError) as caught:
        read_log(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: no measurements in a known format, expected ")
    for known in ("nccl-tests text output", "OSU micro-benchmark tables", "nccl-tests JSON"):
        assert known in text


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing, a directory, or none at all."""
    with pytest.raises(FileError, match=r"none\.log: No such file"):
        read_log(str(tmp_path / "none.log"))
    with pytest.raises(FileError, match="Is a directory"):
        read_log(tmp_path)
    with pytest.raises(InputError, match="no log given, expected at least one file"):
        read_logs([])


def test_the_example_is_what_the_program_prints(synthetic: ModuleType, root: Path) -> None:
    """The README's log is made by a program of the repository, and marked."""
    text = (root / "examples" / "nccl_tests_all_reduce_8gpu.txt").read_text(encoding="utf-8")
    assert text == synthetic.example()
    assert text.startswith("# synthetic: no machine was measured")


@given(
    cuts=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 60)), max_size=6),
    noise=st.lists(st.tuples(st.integers(0, 3000), st.text(max_size=8)), max_size=6),
    order=st.randoms(use_true_random=False),
    shuffle=st.booleans(),
)
@settings(max_examples=150)
def test_damaged_logs_never_give_a_traceback(
    synthetic: ModuleType,
    cuts: list[tuple[int, int]],
    noise: list[tuple[int, str]],
    order: object,
    shuffle: bool,
) -> None:
    """Cut, spoilt, shuffled: rows, or one line that says why not."""
    text = synthetic.log("all_reduce", 4, alpha=1e-6, beta=1e-11)
    for at, length in cuts:
        text = text[:at] + text[at + length :]
    for at, junk in noise:
        text = text[:at] + junk + text[at:]
    lines = text.splitlines()
    if shuffle:
        order.shuffle(lines)  # type: ignore[attr-defined]
    try:
        rows = read("a.log", lines, ReadOptions())
    except FileError:
        return
    assert all(row.seconds > 0 for row in rows)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,024  256  float  sum", "a size of '1,024', expected a whole number without"),
        ("1024  2.56  float  sum", "a count of '2.56', expected a whole number without"),
        ("1024  256  fp6  sum", "type 'fp6' is not known"),
    ],
)
def test_a_row_of_another_spelling_is_left_out_with_its_reason(
    write: Callable[..., str], line: str, reason: str
) -> None:
    """It is not passed over in silence."""
    rest = "  -1  9.42  0.11  0.16  0  8.97  0.11  0.17  0\n"
    good = f"1024  256  float  sum{rest}"
    found = read_log(write(START.format("all_reduce") + RANKS + line + rest + good))
    assert len(found) == 2
    assert [left.reason.startswith(reason) for left in found.left_out] == [True]


def test_a_reduction_of_another_name_is_read(write: Callable[..., str]) -> None:
    """Its time is that of its bytes, whatever is done to them."""
    row = "1024  256  float  premulsum  -1  9.42  0.11  0.16  0  8.97  0.11  0.17  0\n"
    found = read_log(write(START.format("all_reduce") + RANKS + row))
    assert found.values("op") == ("premulsum",)


def test_a_run_that_ended_badly_is_said_to_have_failed(write: Callable[..., str]) -> None:
    """Once, though every rank says so; wrong values are counted at the end, too."""
    row = "1024  256  float  sum  -1  9.42  0.11  0.16  {}  8.97  0.11  0.17  0\n"
    head = START.format("all_reduce") + RANKS
    ends = "node: Test NCCL failure common.cu:1012 'unhandled system error'\n" * 2
    found = read_log(write(head + row.format(0) + ends))
    assert [left.failed for left in found.left_out] == [True]
    assert "Test NCCL failure common.cu:1012" in found.left_out[0].reason
    ends = "# Out of bounds values : 7 FAILED\n"
    found = read_log(write(head + row.format(7) + ends))
    assert [left.failed for left in found.left_out] == [True, True]
    assert found.left_out[1].reason == "the run ended with 7 values out of bounds: FAILED"
    fine = read_log(write(head + row.format(0) + "# Out of bounds values : 0 OK\n"))
    assert fine.left_out == ()


def test_decimal_commas_are_named(write: Callable[..., str]) -> None:
    """A row that ends at one is not merely cut."""
    row = "1024  256  float  sum  -1  9,42  0,11  0,16  0  8,97  0,11  0,17  0\n"
    with pytest.raises(FileError, match="a number '9,42', expected a decimal point and no com"):
        read_log(write(START.format("all_reduce") + RANKS + row))
