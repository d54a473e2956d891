"""nccl-tests' text output: every layout, prefix and damage that real logs have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log, read_logs
from collsim.calibrate.importers.nccl_tests import read
from collsim.core.measurements import Measurements
from collsim.errors import FileError, InputError

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
        FileError, match="does not tell the number of ranks; say it with --ranks"
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
        "say it with --ranks if wrong"
    )


def test_gpus_per_node_tells_the_nodes() -> None:
    """8 ranks of 4 GPUs each are 2 nodes."""
    row = ROW.replace("52.43  0", "91.75  0")
    rows = parse(row, collective="all_reduce", gpus_per_node=4)
    assert rows.values("nodes") == (2,)


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
        "say which with --collective"
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
    assert str(caught.value) == (
        f"{path}: no row of measurements, expected nccl-tests lines of size, count, type, times"
    )


def test_a_file_of_no_known_format_is_an_error(write: Callable[..., str]) -> None:
    """The known formats are named."""
    path = write("hello\n")
    with pytest.raises(FileError) as caught:
        read_log(path)
    assert str(caught.value) == (
        f"{path}: no measurements in a known format, expected nccl-tests text output"
    )


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


# Rows kept and left out of some real logs, counted by hand.
REAL = {
    "001_h100_p5_efa_2n_ar_2-20-3-1.txt": ("all_reduce", (16,), 64, 0),
    "004_h100_1n_g8_5coll.txt": (None, (8,), 100, 0),
    "028_mi300x_1n_ag_ring_LL128_1_1.txt": ("all_gather", (8,), 60, 0),
    "049_gh200_8n_ar.txt": ("all_reduce", (32,), 59, 1),
    "053_gh200_128n_ar.txt": ("all_reduce", (512,), 60, 0),
    "068_a100_2n_alltoall_2_18.txt": ("all_to_all", (8,), 58, 0),
    "107_a100_8n_g8_allreduce_nccl.txt": ("all_reduce", (64,), 48, 0),
    "117_a100_2n_g8_bcast_nccl.txt": ("broadcast", (16,), 48, 0),
    "134_a100pcie_2n_sendrecv_medium.txt": ("sendrecv", (2,), 206, 0),
    "142_a100_p4de_2n_ar_readme.txt": ("all_reduce", (16,), 58, 0),
    "144_aws_readme_2.txt": ("all_reduce", (16,), 14, 0),
    "159_a100_ndv4_1n_all_reduce_nccl.txt": ("all_reduce", (8,), 38, 0),
    "162_a100_ndv4_64n_alltoall_msccl.txt": ("all_to_all", (512,), 13, 13),
    "179_a100_1n_all_gather.txt": ("all_gather", (8,), 68, 0),
    "192_h100_1n_ar_scaling_246.txt": ("all_reduce", (2, 4, 6), 36, 0),
    "193_h100_1n_g2_ar_Ring_tuninglog.txt": ("all_reduce", (2,), 12, 0),
    "236_h100_multi_ar_broken.txt": ("all_reduce", (24,), 20, 2),
    "250_b200_1n_ar_symm_graph.txt": ("all_reduce", (8,), 62, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_logs(shared_data: Path, name: str) -> None:
    """Collective, ranks, rows kept and left out of logs with every quirk."""
    collective, ranks, kept, left_out = REAL[name]
    rows = read_log(str(shared_data / "public" / name))
    if collective is not None:
        assert rows.values("collective") == (collective,)
    assert rows.values("ranks") == ranks
    assert (len(rows), len(rows.left_out)) == (kept, left_out)


def test_no_real_file_gives_a_traceback(shared_data: Path) -> None:
    """Every text file is read, or refused in one line."""
    refused = []
    for path in sorted(shared_data.glob("*/*.txt")):
        try:
            read_log(str(path))
        except FileError:
            refused.append(path.name[:3])
    # A failed run, OSU tables, CSV tables, a tuning dump, and tables in prose.
    assert refused == ["096", "124", "125", "174", "177", "207", "209", "211", "217", "226"]
