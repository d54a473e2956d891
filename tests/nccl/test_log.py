"""NCCL's debug log: tables of both layouts, matrix, channels, graphs, chosen lines."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from collsim.errors import FileError
from collsim.nccl import Log, parse_log, read_log
from collsim.nccl.log import chosen_line

FUNCTIONS = ("Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce")
ALGOS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOS = ("LL", "LL128", "Simple")
INFO = "host-1:10:11 [0] NCCL INFO "


def cell(function: int, algorithm: int, protocol: int) -> str:
    """Return a cell that no other cell is like."""
    number = 100 * function + 10 * algorithm + protocol
    return f"{number + 0.5:8.1f}/{number + 0.7:6.1f} |"


def blocks(algorithms: int = 7) -> list[str]:
    """Return a table as 2.18 and later print it, three algorithms a block."""
    out = []
    for first in range(0, algorithms, 3):
        some = range(first, min(first + 3, algorithms))
        names = "".join(f" {'':>14}   {ALGOS[a]:>14}   {'':>14} |" for a in some)
        out.append("  Algorithm   |" + names)
        out.append("  Protocol    |" + "".join(f" {p:>14} |" for _ in range(3) for p in PROTOS))
        out.append(" Max NThreads |" + f" {512:14d} |" * (3 * len(some)))
        for f, function in enumerate(FUNCTIONS):
            cells = "".join(cell(f, a, p) for a in some for p in range(3))
            out.append(f"{function:>13} |" + cells)
    return out


def wide(algorithms: tuple[str, ...]) -> list[str]:
    """Return a table as 2.17 and earlier print it."""
    heads = "".join(f" {a:>7}/{p:>6} |" for a in algorithms for p in PROTOS)
    out = ["Latency/AlgBw |" + heads]
    out.append(" Max NThreads |" + f" {512:14d} |" * (3 * len(algorithms)))
    for f, function in enumerate(FUNCTIONS):
        cells = "".join(cell(f, a, p) for a in range(len(algorithms)) for p in range(3))
        out.append(f"{function:>13} |" + cells)
    return out


def logged(lines: list[str], prefix: str = INFO) -> Log:
    """Read these messages."""
    return parse_log("\n".join(prefix + line for line in lines), "a.log")


def reasons(log: Log) -> list[str]:
    """Return the problems as text."""
    return [str(problem) for problem in log.problems]


@pytest.mark.parametrize("algorithms", [6, 7])
def test_a_table_of_blocks(algorithms: int) -> None:
    """Two blocks until 2.22, three since."""
    log = logged(blocks(algorithms))
    (table,) = log.tables
    assert (table.layout, table.line, table.source) == ("blocks", 1, "host-1:10:11")
    assert len(table.cells) == 15 * algorithms
    assert table.cells["all_reduce", "nvls_tree", "simple"] == (452.5, 452.7)
    assert table.threads["ring", "ll"] == 512
    assert log.problems == ()


def test_a_wide_table() -> None:
    """One block of five algorithms, as 2.17 prints it."""
    (table,) = logged(wide(ALGOS[:5])).tables
    assert (table.layout, len(table.cells)) == ("wide", 75)
    assert table.cells["reduce", "collnet_chain", "ll128"] == (131.5, 131.7)


def test_a_wide_table_with_one_collnet() -> None:
    """Up to 2.13 there was a CollNet, neither direct nor chain."""
    (table,) = logged(wide(("Tree", "Ring", "CollNet"))).tables
    assert table.cells["all_reduce", "collnet", "simple"] == (422.5, 422.7)


@pytest.mark.parametrize(
    "prefix",
    [
        "n-0:1:2 [0] NCCL INFO ",
        "[1,0]<stdout>:n-0:1:2 [0] NCCL INFO ",
        "[2026-01-02 03:04:05] n-0:1:2 [0] NCCL INFO ",
        "0: n-0:1:2 [0] NCCL INFO ",
    ],
)
def test_prefixes(prefix: str) -> None:
    """NCCL's, under a launcher, with a time stamp."""
    log = logged(
        [*blocks(), "8 coll channels, 8 p2p channels, 2 p2p channels per peer"], prefix
    )
    assert len(log.tables) == 1
    assert log.channels[0].source == "n-0:1:2"
    assert log.problems == ()


def test_tables_of_two_ranks_at_once() -> None:
    """Lines of two communicators' ranks between each other."""
    one, two = blocks(), blocks()
    text = "\n".join(
        f"n-0:{rank}:9 [{rank}] NCCL INFO {line}"
        for pair in zip(one, two, strict=True)
        for rank, line in enumerate(pair)
    )
    log = parse_log(text)
    assert [table.source for table in log.tables] == ["n-0:0:9", "n-0:1:9"]
    assert log.problems == ()


def test_two_tables_of_one_rank() -> None:
    """A second communicator of the same thread."""
    log = logged([*blocks(), *blocks()])
    assert [table.line for table in log.tables] == [1, 25]


def test_a_row_that_is_cut_is_reported() -> None:
    """And its table is not returned half."""
    lines = blocks()
    lines[4] = lines[4][:60]
    log = logged(lines)
    assert log.tables == ()
    assert reasons(log) == ["a.log: line 5: Reduce: 2 cells 'latency/bandwidth', expected 9"]


def test_a_table_that_ends_early_is_reported() -> None:
    """The file ends in the middle of it."""
    log = logged(blocks()[:6])
    assert log.tables == ()
    assert reasons(log) == [
        "a.log: line 1: a table of which 3 of 5 collectives are there, cut off"
    ]


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (
            "1024 Bytes -> Algo 1 proto 0 time 9.500000",
            (None, 1024, 1024, "ring", "ll", None, 9.5),
        ),
        (
            "AllGather: 4096 Bytes -> Algo 4 proto 2 time 26.100000",
            ("all_gather", 4096, 4096, "nvls", "simple", None, 26.1),
        ),
        (
            "AllGather: 1024 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..3}",
            ("all_gather", 1024, 4096, "ring", "ll128", (0, 3), None),
        ),
        (
            "ReduceScatter: 64 Bytes -> Algo PAT proto SIMPLE channel{Lo..Hi}={1..1}",
            ("reduce_scatter", 64, 256, "pat", "simple", (1, 1), None),
        ),
        (
            (
                "AllReduce: 64 Bytes -> Algo COLLNET_CHAIN proto SIMPLE "
                "channel{Lo..Hi}={0..7} cgaClusterSize 4"
            ),
            ("all_reduce", 64, 64, "collnet_chain", "simple", (0, 7), None),
        ),
    ],
)
def test_chosen_lines_of_every_release(line: str, row: tuple[object, ...]) -> None:
    """2.20, 2.23, 2.24 (a rank's bytes where it has a share), 2.31."""
    size = "comm 0xabc rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0"
    log = logged([size, line])
    (got,) = log.chosen
    assert row == (
        got.collective,
        got.nbytes,
        got.total_bytes,
        got.algorithm,
        got.protocol,
        got.channels,
        got.time_us,
    )
    assert (got.kind, got.file, got.line) == ("algorithm", "a.log", 2)
    assert log.problems == ()


@pytest.mark.parametrize(
    ("line", "kind", "kernel", "channels"),
    [
        (
            "AllReduce [Symmetric]: 64 Bytes -> Kernel AllReduce_AGxLL nchannels 4 nthreads 96",
            "symmetric",
            "AllReduce_AGxLL",
            (0, 3),
        ),
        (
            ("AllGather [Symmetric]: 64 Bytes -> Kernel AllGather_ST nchannels 4 nthreads 512 "
            "nWorks 2"),
            "symmetric",
            "AllGather_ST",
            (0, 3),
        ),
        ("AllGather [Copy Engine]: 64 Bytes -> cudaMemcpyBatch", "copy_engine",
         "cudaMemcpyBatch", None),
        ("AllGather [Hierarchical CE]: 64 Bytes -> RMA proxy + CE", "hierarchical_copy_engine",
         "RMA proxy + CE", None),
        ("AllGather [Hierarchical CE]: 64 Bytes -> Rail A2A RMA proxy + CE",
         "hierarchical_copy_engine", "Rail A2A RMA proxy + CE", None),
    ],
)  # fmt: skip
def test_kernels_on_windows_and_copies(
    line: str, kind: str, kernel: str, channels: tuple[int, int] | None
) -> None:
    """They have neither algorithm nor protocol."""
    (got,) = logged([line]).chosen
    assert (got.kind, got.kernel, got.channels, got.algorithm) == (kind, kernel, channels, None)


def test_a_share_without_ranks_has_no_total() -> None:
    """A log of 2.24 and later that does not tell the ranks, or of two communicators."""
    line = "AllGather: 1024 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..3}"
    assert logged([line]).chosen[0].total_bytes is None
    two = [f"comm 0x{n} rank 0 nRanks {n} nNodes 1 localRanks {n}" for n in (2, 4)]
    assert logged([*two, line]).chosen[0].total_bytes is None


def test_a_split_collective_is_a_row_a_range() -> None:
    """One call of several, over two ranges of channels."""
    lines = [
        f"AllReduce: 64 Bytes -> Algo RING proto LL channel{{Lo..Hi}}={{{at}}}"
        for at in ("0..3", "4..7")
    ]
    assert [row.channels for row in logged(lines).chosen] == [(0, 3), (4, 7)]


def test_two_messages_on_one_line() -> None:
    """And the left half of a row of nccl-tests before them."""
    said = "AllReduce: 64 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}"
    row = "   67108864    16777216     float     sum      -1"
    log = parse_log(f"{row}{INFO}{said}{INFO}{said}   501.2  133.9")
    assert [r.channels for r in log.chosen] == [(0, 3), (0, 3)]
    assert log.problems == ()


@pytest.mark.parametrize(
    "line",
    [
        "AllReduce: 64 Bytes -> Algo RING proto",
        "AllReduce: 64 Bytes -> Algo WHEEL proto LL channel{Lo..Hi}={0..3}",
        "AllReduce: 64 Bytes -> Algo 9 proto 0 time 1.000000",
        "AllReduce [New]: 64 Bytes -> Kernel x",
        "Pattern 4, crossNic 0, nChannels",
        "Pattern 4, crossNic 0, nChannels 2, bw 1.0/1.0, type NVL/ABC, sameChannels 1",
    ],
)
def test_broken_lines_are_reported(line: str) -> None:
    """With the line; none of them stops the reading."""
    log = logged([line, "AllReduce: 64 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}"])
    assert [problem.line for problem in log.problems] == [1]
    assert "\n" not in reasons(log)[0]
    assert len(log.chosen) == 1


def test_graphs_and_channels() -> None:
    """Bw since 2.14, speed before; nvls and collnet channels where they are printed."""
    log = logged(
        [
            (
                "Pattern 4, crossNic 2, nChannels 8, bw 48.000000/24.000000, type NVL/PXB, "
                "sameChannels 0"
            ),
            (
                "Pattern 1, crossNic 0, nChannels 6, speed 20.000000/20.000000, type NVL/PIX, "
                "sameChannels 1"
            ),
            (
                "16 coll channels, 16 collnet channels, 8 nvls channels, 32 p2p channels, "
                "4 p2p channels per peer"
            ),
            "2 coll channels, 2 p2p channels, 2 p2p channels per peer",
        ]
    )
    ring, tree = (row.graph for row in log.graphs)
    assert (ring.channels, ring.bw_intra, ring.bw_inter, ring.type_inter) == (8, 48, 24, "PXB")
    assert (ring.same_channels, log.graphs[0].cross_nic, tree.bw_intra) == (False, 2, 20)
    assert [(c.collective, c.collnet, c.nvls, c.p2p_per_peer) for c in log.channels] == [
        (16, 16, 8, 4),
        (2, None, None, 2),
    ]


def test_the_matrix_of_what_is_enabled() -> None:
    """Rows of it have no prefix."""
    head = f"{INFO}Enabled NCCL Func/Proto/Algo Matrix:"
    names = "     Function |       LL     LL128    Simple   |           Tree           Ring  "
    rows = [
        f"{f:>13} |        1         2         1   |              0              1  "
        for f in FUNCTIONS
    ]
    log = parse_log(
        "\n".join([head, names, *rows, "", f"{INFO}NCCL_PROTO set by environment to LL"])
    )
    (matrix,) = log.enabled
    assert matrix.protocols["all_reduce"] == {"ll": 1, "ll128": 2, "simple": 1}
    assert matrix.algorithms["broadcast"] == {"tree": 0, "ring": 1}
    assert log.environment == {"NCCL_PROTO": "LL"}


def test_only_the_variables_of_the_choice_are_kept() -> None:
    """The rest of an environment may be private."""
    log = logged(
        [
            "NCCL_SOCKET_IFNAME set by environment to eth0",
            "NCCL_ALGO set by environment to Ring",
        ]
    )
    assert log.environment == {"NCCL_ALGO": "Ring"}


def test_a_worn_log_is_read_without_an_exception(data: Path) -> None:
    """Bytes cut out, doubled and changed."""
    text = (data / "nccl_tuning_table_2_ranks_one_gpu.log").read_text(encoding="utf-8")
    dice = random.Random(3)
    for _ in range(100):
        a, b = sorted(dice.randrange(len(text)) for _ in range(2))
        worn = text[:a] + dice.choice(["", text[a:b] * 2, "\x00|1/", "NCCL INFO "]) + text[b:]
        for problem in parse_log(worn).problems:
            assert "\n" not in str(problem)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    """As for every file."""
    with pytest.raises(FileError, match="No such file"):
        read_log(tmp_path / "none.log")


@pytest.mark.parametrize("damaged", ["..0/ 1.0", ".0.0/1.0", "1.0/662..", "./1", "1-/2", "/"])
def test_a_damaged_cell_is_a_problem(damaged: str) -> None:
    """Digits and points that make no number."""
    lines = blocks()
    whole = cell(4, 2, 0).removesuffix(" |")
    assert any(whole in line for line in lines)
    log = logged([line.replace(whole, damaged) for line in lines])
    assert log.tables == ()
    assert reasons(log) == ["a.log: line 8: AllReduce: 8 cells 'latency/bandwidth', expected 9"]


def test_more_digits_than_a_size_has_are_a_problem() -> None:
    """Not the last 19 of them."""
    line = "AllReduce: " + 25 * "1" + " Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}"
    log = logged([line])
    assert (log.chosen, len(log.problems)) == ((), 1)


@pytest.mark.parametrize(
    "line",
    [
        "AllReduce: 8 Bytes",
        "AllReduce: 8 Bytes -> Algo 9 proto 0 time 1.0",
        "AllReduce: 8 Bytes -> Algo 0 proto 3 time 1.0",
        "AllReduce: 8 Bytes -> Algo SQUARE proto LL channel{Lo..Hi}={0..3}",
        "AllReduce: 8 Bytes -> Algo RI",
        "AllReduce [Magic]: 8 Bytes -> Kernel x nchannels 1 nthreads 2",
        "AllReduce: -8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}",
        "8.5 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}",
    ],
)
def test_what_is_no_choice(line: str) -> None:
    """A cut line, an unknown name or number, bytes that are none."""
    assert chosen_line("node-a:7:9 [0] NCCL INFO " + line) is None
