"""nccl-tests' text output: every layout and prefix that real logs have."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log, read_logs
from collsim.calibrate.importers.nccl_tests import IMPORTER
from collsim.core.measurements import Measurements
from collsim.errors import FileError

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


def test_a_log_of_this_layout_says_everything(synthetic: ModuleType) -> None:
    """Collective, ranks, nodes, version, clock, process model, device; both halves."""
    rows = parse(synthetic.log("all_gather", 4, hosts=2, alpha=1e-6, beta=1e-11))
    assert rows.left_out == ()
    first, second = rows.rows[:2]
    assert (first.collective, first.ranks, first.nodes) == ("all_gather", 4, 2)
    assert (first.nbytes, first.count, first.dtype, first.op) == (8, 0, "float", None)
    assert (first.root, first.wrong, first.in_place, second.in_place) == (None, 0, False, True)
    source = first.source
    assert (source.file, source.line) == ("a.log", 14)
    assert source.version == "NCCL 2.26.2"
    assert (source.clock, source.process_model) == ("host", "process per GPU")
    assert source.device == "Made-up GPU"


@pytest.mark.parametrize(
    "name",
    [
        "all_reduce",
        "all_gather",
        "reduce_scatter",
        "all_to_all",
        "broadcast",
        "reduce",
        "sendrecv",
    ],
)
def test_every_collective_is_read(synthetic: ModuleType, name: str) -> None:
    """31 sizes, each out of place and in place."""
    rows = parse(synthetic.log(name, 8, alpha=1e-6, beta=1e-11))
    assert rows.values("collective") == (name,)
    assert len(rows) == 62
    assert rows.left_out == ()


def test_a_rooted_collective_keeps_its_root(synthetic: ModuleType) -> None:
    """Root 0, where all_reduce has -1 for none."""
    rows = parse(synthetic.log("broadcast", 8, alpha=1e-6, beta=1e-11))
    assert rows.values("root") == (0,)


def test_the_old_layout_without_a_root_column(data: Path) -> None:
    """2.11: error as a float, no group; an error of 1 is wrong, 2e-07 is rounding."""
    rows = read_log(str(data / "old_all_reduce.txt"))
    assert rows.values("collective") == ("all_reduce",)
    assert (rows.values("ranks"), rows.values("nodes")) == ((4,), (2,))
    assert len(rows) == 9
    assert [str(left).rpartition("/")[2] for left in rows.left_out] == [
        "old_all_reduce.txt:15: in place: an error of 1e+00, at most 1e-05 is right"
    ]
    assert rows.rows[6].wrong is None


def test_the_old_layout_with_a_root_column_only(data: Path) -> None:
    """2.11's broadcast; no device lines, and no factor tells the ranks."""
    path = str(data / "old_broadcast.txt")
    rows = read_logs([path], ranks=8)
    assert [(r.root, r.nbytes, r.seconds) for r in rows][:2] == [
        (2, 1048576, 2e-5),
        (2, 1048576, 2.1e-5),
    ]
    with pytest.raises(
        FileError, match="does not tell the number of ranks; say it with ranks=, --ranks"
    ):
        read_log(path)


def test_the_old_layout_with_redop_and_root() -> None:
    """2.11's reduce."""
    head = "# size count type redop root time algbw busbw error time algbw busbw error\n"
    row = "1048576 262144 float sum 3 20.00 52.43 52.43 1e-07 20.00 52.43 52.43 N/A\n"
    rows = parse(RANKS + head + row)
    assert rows.values("collective") == ("reduce",)
    assert [(r.root, r.wrong) for r in rows] == [(3, 0), (3, None)]


def test_the_old_layout_without_redop() -> None:
    """2.11's all_gather: size count type, then times."""
    head = "# size count type time algbw busbw error time algbw busbw error\n"
    row = "1048576 131072 float 20.00 52.43 26.21 0e+00 20.00 52.43 26.21 0e+00\n"
    rows = parse(RANKS + head + row, collective="all_gather")
    assert len(rows) == 2


def test_rows_without_any_head() -> None:
    """Counted: eight numbers have no root, nine have one."""
    new = parse("1048576 262144 float sum -1 " + "20.00 52.43 91.75 0 " * 2)
    old = parse("1048576 262144 float sum " + "20.00 52.43 91.75 0e+00 " * 2)
    assert new.values("ranks") == old.values("ranks") == (8,)
    assert new.values("collective") == old.values("collective") == ("all_reduce",)


def test_statistics_per_iteration_are_skipped() -> None:
    """5 + 8 + 8 columns with -I 1."""
    half = "time algbw busbw #wrong i_min i_max i_p99 i_cv% "
    head = f"# size count type redop root {half}{half}\n"
    row = "1048576 262144 float sum -1 " + (GOOD + " 19.0 25.0 24.0 3.1 ") * 2
    rows = parse(RANKS + START.format("all_reduce") + head + row)
    assert [r.seconds for r in rows] == [2e-5, 2e-5]


def test_a_timestamp_at_the_end_is_skipped() -> None:
    """-S."""
    rows = parse(
        RANKS + HEAD + ROW.rstrip() + "  2025-07-16 12:00:01\n", collective="all_reduce"
    )
    assert len(rows) == 2


def test_cpu_time_is_another_clock() -> None:
    """-C replaces the label."""
    head = HEAD.replace("time", "cputime")
    rows = parse(RANKS + START.format("all_reduce") + head + ROW)
    assert rows.rows[0].source.clock == "CPU time"


def test_bandwidths_in_few_digits_are_read() -> None:
    """5e+06, as 2.19 prints what overflows; here 1048576 B in 0.03 us."""
    row = "1048576 262144 float sum -1 " + "0.03 3e+04 3e+04 0 " * 2
    rows = parse(RANKS + START.format("all_reduce") + row)
    assert len(rows) == 2


@pytest.mark.parametrize(
    "prefix",
    [
        "[1,0]<stdout>:",
        "   [1,0]<stdout>:",
        "[prterun-node-a-77@1,0]<stdout>: ",
        "0: ",
        " 0:",
        "2024-10-01T12:00:00.123456789Z ",
        "[2024-10-01 12:00:00] ",
        "worker-1  | ",
        "[pod/test-launcher/main] ",
        "\x1b[32mnode-a\x1b[0m: ",
    ],
)
def test_prefixes_of_launchers_are_skipped(synthetic: ModuleType, prefix: str) -> None:
    """mpirun, srun, kubectl, docker-compose, colours: the same rows as without."""
    plain = synthetic.log("all_reduce", 4, alpha=1e-6, beta=1e-11)
    rows = parse("".join(prefix + line for line in plain.splitlines(keepends=True)))
    expected = parse(plain)
    assert rows.rows == expected.rows
    assert rows.left_out == ()


def test_halves_flushed_apart_by_mpirun(data: Path) -> None:
    """A prefix in the middle of a row; the command names the test; 3 wrong elements."""
    rows = read_log(str(data / "split_mpirun.txt"))
    assert [(r.collective, r.ranks, r.nodes, r.seconds) for r in rows] == [
        ("reduce_scatter", 4, 2, 2e-5),
        ("reduce_scatter", 4, 2, 2.1e-5),
        ("reduce_scatter", 4, 2, 3e-5),
    ]
    assert rows.rows[0].source.version == "NCCL 2.22.3"
    assert [left.reason for left in rows.left_out] == ["in place: 3 elements are wrong"]


def test_rows_cut_by_nccls_own_log(data: Path) -> None:
    """The numbers of one row lie on three lines; a row that never ends is reported."""
    rows = read_log(str(data / "split_info.txt"))
    assert [(r.seconds, r.source.line) for r in rows] == [(2e-5, 11), (2.1e-5, 11)]
    assert rows.rows[0].source.clock == "host, CUDA graph"
    assert rows.rows[0].source.process_model == "one process"
    assert [(left.line, left.reason) for left in rows.left_out] == [
        (16, "cut after 5 numbers, expected time algbw busbw #wrong twice")
    ]


def test_several_tests_in_one_file(synthetic: ModuleType) -> None:
    """Each has its own head: collective, ranks, process model."""
    one = synthetic.log("all_reduce", 4, alpha=1e-6, beta=1e-11)
    two = synthetic.log("sendrecv", 8, hosts=2, alpha=1e-6, beta=1e-11)
    rows = parse(one + two)
    found = {(r.collective, r.ranks, r.nodes) for r in rows}
    assert found == {("all_reduce", 4, 1), ("sendrecv", 8, 2)}
    assert len(rows) == 124


def test_a_failed_test_leaves_nothing_to_the_next() -> None:
    """The head of a run without rows is forgotten."""
    failed = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n" + RANKS.replace("node-a", "node-z")
    head = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n"
    rows = parse(failed + head + RANKS + HEAD + ROW, collective="all_reduce")
    assert rows.values("ranks") == (2,)


def test_sections_without_heads_have_their_own_ranks() -> None:
    """`### GPUS=n` and a sweep each; ranks by busbw / algbw 1, 1.5."""
    two, four = ROW, ROW.replace("52.43  0", "78.65  0")
    rows = parse(f"### GPUS=2\n{two}### GPUS=4\n{four}", collective="all_reduce")
    assert rows.values("ranks") == (2, 4)
    assert rows.notes == (
        "a.log: 2 ranks, by busbw / algbw",
        "a.log: 4 ranks, by busbw / algbw",
    )


def test_a_forced_algorithm_is_kept() -> None:
    """Of a section, or of the environment; a list of several says nothing."""
    forced = parse(
        f"### ALGO=NVLSTree\n{ROW}### PROTO=LL128\n{ROW}", collective="all_reduce", ranks=2
    )
    assert [(r.algorithm, r.protocol) for r in forced][::2] == [
        ("nvls_tree", None),
        (None, "ll128"),
    ]
    several = parse("mpirun -x NCCL_ALGO=Ring,Tree\n" + RANKS + ROW, collective="all_reduce")
    assert several.values("algorithm") == (None,)


def test_several_communicators_in_one_run() -> None:
    """With NCCL_TESTS_SPLIT, the ranks of one group count."""
    lines = "".join(
        f"#  Rank {r:2d} Group {r % 2:2d} Pid {r} on node-{r % 2} device 0 [0x1b] GPU\n"
        for r in range(4)
    )
    rows = parse(lines + HEAD + ROW, collective="all_reduce")
    assert (rows.values("ranks"), rows.values("nodes")) == ((2,), (1,))


def test_a_cut_device_list_yields_to_the_numbers() -> None:
    """Two devices are listed, but busbw / algbw = 1.75 is of eight; the note says so."""
    row = ROW.replace("52.43  0", "91.75  0")
    rows = parse(RANKS + HEAD + row, collective="all_reduce")
    assert (rows.values("ranks"), rows.values("nodes")) == ((8,), (None,))
    assert rows.notes == ("a.log: 8 ranks, by busbw / algbw, although 2 devices are listed",)


def test_digits_that_allow_several_rank_counts() -> None:
    """199.605/100.005 to 199.615/99.995: 494 to 533 ranks; the one with most twos is taken."""
    row = "268435456 67108864 float sum -1 " + "2684.4 100.00 199.61 0 " * 2
    rows = parse(row, collective="all_reduce")
    assert rows.values("ranks") == (512,)
    assert "; ".join(rows.notes) == (
        "a.log: 512 ranks, by busbw / algbw, whose digits allow 494 to 533; "
        "say it with ranks=, --ranks, if wrong"
    )


def test_gpus_per_node_tells_the_nodes() -> None:
    """8 ranks of 4 GPUs each are 2 nodes."""
    row = ROW.replace("52.43  0", "91.75  0")
    rows = parse(row, collective="all_reduce", gpus_per_node=4)
    assert rows.values("nodes") == (2,)
