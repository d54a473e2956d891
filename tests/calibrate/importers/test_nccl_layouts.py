"""nccl-tests' text output: the oldest layout, RCCL's heads, merged columns, long tables."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers.nccl_tests import IMPORTER, marks
from collsim.core.measurements import Measurements
from collsim.errors import FileError

read = IMPORTER.read

START = "# Collective test starting: all_reduce_perf\n"
RANKS = (
    "#  Rank  0 Group  0 Pid  7 on node-a device  0 [0x1b] GPU\n"
    "#  Rank  1 Group  0 Pid  8 on node-a device  1 [0x43] GPU\n"
)
HEAD = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"


def parse(text: str, **options: object) -> Measurements:
    """Read a log from memory."""
    return read("a.log", text.splitlines(), ReadOptions(**options))  # type: ignore[arg-type]


def test_the_oldest_layout_has_milliseconds(data: Path) -> None:
    """2.0.0: `bytes N type op`, `res`, three decimals; no process numbers."""
    text = (data / "oldest_all_reduce.txt").read_text("utf-8")
    rows = parse(text, collective="all_reduce")
    assert [(r.nbytes, r.seconds, r.in_place) for r in rows] == [
        (0, 9e-06, False),
        (0, 1e-05, True),
        (10485760, 0.0003, False),
    ]
    assert rows.left_out[0].reason == "in place: an error of 1e+00, at most 1e-05 is right"
    assert (rows.values("ranks"), rows.values("nodes")) == ((2,), (1,))
    source = rows.rows[0].source
    assert (source.version, source.process_model) == ("NCCL 2.4", "one process")
    assert marks(text.splitlines()[8])


def test_milliseconds_are_never_taken_for_microseconds(data: Path) -> None:
    """Also where the head is lost and the bandwidth, 0.00, tells nothing."""
    text = (data / "oldest_all_reduce.txt").read_text("utf-8")
    lost = "".join(line for line in text.splitlines(keepends=True) if " N " not in line)
    with pytest.raises(FileError, match=r"0\.009 has not the decimals of times in us"):
        parse(lost, collective="all_reduce")
    half = "9.00   0.00   0.00      N/A"
    wrong = text + f"           8             2   float     sum    {half}    {half}\n"
    rows = parse(wrong, collective="all_reduce")
    assert "9.00 has not the decimals of times in ms" in rows.left_out[-1].reason


def test_rccl_writes_colons(data: Path) -> None:
    """In its older head; its bus addresses are longer."""
    rows = parse((data / "rccl_all_reduce.txt").read_text("utf-8"), collective="all_reduce")
    assert (rows.values("ranks"), rows.values("nodes")) == ((2,), (2,))
    source = rows.rows[0].source
    assert (source.version, source.backend) == ("RCCL 2.21.5-HEAD:0000000", "rccl")
    assert source.process_model == "process per GPU"


@pytest.mark.parametrize("numbers", ["20.00  52.4352.43  0", "20.0052.4352.43 0"])
def test_columns_that_grew_together_come_apart(numbers: str) -> None:
    """Two decimals each; time, algbw and busbw must still agree."""
    row = f"  1048576  262144  float  sum  -1  {numbers}  20.00  52.43  52.43  0\n"
    rows = parse(START + RANKS + HEAD + row)
    assert [(r.seconds, r.in_place) for r in rows] == [(2e-05, False), (2e-05, True)]


def test_a_long_table_is_read_in_parts() -> None:
    """Each with the collective and the ranks that its first part told."""
    telling = "2048 512 float sum -1 " + "0.01  204.80  358.40  0  " * 2 + "\n"
    rows = []
    for size in range(4096, 4096 + 4 * 5000, 4):
        half = f"100.00  {size / 1e5:.2f}  {size / 1e5 * 1.75:.2f}  0  "
        rows.append(f"{size} {size // 4} float sum -1 {half * 2}\n")
    found = parse(telling + "".join(rows), collective="all_reduce")
    assert (len(found), found.values("ranks")) == (2 + 2 * 5000, (8,))


def test_a_table_that_tells_too_little_does_not_spoil_the_others() -> None:
    """Its rows are left out, with what to say."""
    half = "20.00  52.43  52.43  0"
    row = f"  1048576  262144  float  none  0  {half}  {half}\n"
    other = f"  1048576  262144  float  sum  -1  {half}  {half}\n"
    good = START + RANKS + HEAD + other + "# Avg bus bandwidth : 1\n"
    rows = parse(good + "# Collective test starting: broadcast_perf\n" + HEAD + row)
    assert rows.values("collective") == ("all_reduce",)
    assert [str(left) for left in rows.left_out] == [
        "a.log:9: the log does not tell the number of ranks; say it with ranks=, --ranks"
    ]


@pytest.mark.parametrize(
    "prefix",
    [
        "[1,0]<stdout>:",
        "0: ",
        "2024-10-01T12:00:0{}.123456789Z ",
        "2024/10/01 12:00:0{} ",
        "worker-1  | ",
        "[pod/test-launcher/main] ",
        "[rank0]: ",
        "Oct 01 12:00:0{} node-a run[77]: ",
        "> ",
    ],
)
def test_rows_split_behind_a_prefix(synthetic: ModuleType, prefix: str) -> None:
    """Their halves carry it too, with other digits where it is a time."""
    plain = synthetic.log("all_reduce", 4, alpha=1e-6, beta=1e-11)
    lines: list[str] = []
    for line in plain.splitlines():
        words = line.split()
        parts = [words[:5], words[5:9], words[9:]] if line.startswith(" ") else []
        lines += ["   ".join(["", *part]) for part in parts] or [line]
    split = [prefix.format(at % 10) + line for at, line in enumerate(lines)]
    found = read("a.log", split)
    whole = read("a.log", plain.splitlines())
    assert found.left_out == ()
    assert [row.seconds for row in found] == [row.seconds for row in whole]
