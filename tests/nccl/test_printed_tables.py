"""NCCL's own tables, to the printed digits, and its choice recomputed from each of them.

The graph numbers of the published tables were found from the cells named beside them; all other
cells of those tables are checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from collsim.core.cluster import Cluster
from collsim.nccl import (
    ALGORITHMS,
    COLLECTIVES,
    PROTOCOLS,
    Communicator,
    Graph,
    Tuning,
    communicator,
    log_communicator,
    printed_tuning,
    read_graphs,
    read_log,
    tuning,
)
from collsim.nccl.log import PrintedTable

OURS = "nccl_tuning_table_2_ranks_one_gpu.log"
SIZES = 1000


@dataclass(frozen=True)
class Published:
    """A printed table: its file, NCCL's version, the communicator that reproduces it."""

    file: str
    version: str
    comm: Communicator


def _hopper(environment: dict[str, str]) -> Communicator:
    """Two H100: 12 rings of 30 GB/s and NVLS of 60, what the search's rules give for them.

    Fitted: rings from AllReduce Ring Simple (360 = 12 x 30, 24 channels in the log), trees from
    AllReduce Tree Simple (232.2 = 12 x 38.7 / 2: any bw_intra from 42.1 on), NVLS from
    AllGather (25.5 = 2 x 60 x 0.85 / 4).
    """
    near = {"type_intra": "NVL", "type_inter": "PIX"}
    return Communicator(
        ranks=2,
        nodes=1,
        capability=90,
        graphs={
            "ring": Graph(12, 30, 30, pattern=4, **near),
            "tree": Graph(12, 60, 60, pattern=1, same_channels=False, **near),
            "nvls": Graph(2, 60, 60, pattern=5, same_channels=False, **near),
        },
        nvls_channels=16,
        environment=environment,
    )


# Two machines of one RTX 5090 each, over sockets. Fitted: 2 rings of 1.2 GB/s from Broadcast
# Ring Simple (2.4) and the 4 channels of the log; trees of 2 x 2.4, pattern 3 as for a single
# GPU, from AllReduce Tree Simple (1.9 = 4.8 x 0.92 x 0.85 / 2); the card beyond a CPU (PHB),
# from the absence of LL128.
_SOCKETS = Communicator(
    ranks=2,
    nodes=2,
    capability=120,
    graphs={
        "ring": Graph(2, 1.2, 1.2, type_intra="LOC", type_inter="PHB", pattern=4),
        "tree": Graph(2, 2.4, 1.2, type_intra="LOC", type_inter="PHB", pattern=3),
    },
    nvswitch=False,
)

PUBLISHED = (
    Published("177_nccl_tuning_table_2_29_socket.txt", "2.29.7", _SOCKETS),
    Published("193_h100_1n_g2_ar_Ring_tuninglog.txt", "2.29.2", _hopper({"NCCL_ALGO": "Ring"})),
    Published("195_h100_1n_g2_ar_auto_tuninglog.txt", "2.29.2", _hopper({})),
)


def ours(data: Path, graph_dump: Path) -> tuple[PrintedTable, Tuning]:
    """Return the table of two ranks on one H200, and ours from NCCL's graph XML."""
    log = read_log(data / OURS)
    comm = Communicator(
        ranks=2,
        nodes=1,
        capability=90,
        graphs=read_graphs(graph_dump),
        environment={"NCCL_MAX_CTAS": "8"},
    )
    assert comm.channels == log.channels[0].collective
    return log.tables[0], tuning(comm, log.version or "")


def differences(table: PrintedTable, model: Tuning) -> list[str]:
    """Return the cells that don't print as NCCL printed them."""
    out = []
    for c in COLLECTIVES:
        for a in ALGORITHMS:
            for p in PROTOCOLS:
                got = f"{model.latency_us(c, a, p):.1f}/{model.bandwidth(c, a, p):.1f}"
                wanted = "{:.1f}/{:.1f}".format(*table.cells[c, a, p])
                if got != wanted:
                    out.append(f"{c} {a} {p}: {got}, NCCL printed {wanted}")
    return out


def threads(table: PrintedTable, model: Tuning) -> list[str]:
    """Return the algorithms whose most threads are not as NCCL printed them."""
    return [
        f"{a} {p}" for (a, p), most in table.threads.items() if model.threads(a, p).most != most
    ]


def sizes(seed: int) -> np.ndarray:
    """Return random sizes up to 8 GiB, as many at each order of magnitude."""
    return (2 ** np.random.default_rng(seed).uniform(0, 33, SIZES)).astype(np.int64)


def argmin(
    table: PrintedTable, model: Tuning, collective: str, nbytes: int
) -> tuple[str, str] | None:
    """Return NCCL's choice by a printed table, in plain 32-bit arithmetic.

    Written apart from the package, for one node or two, without collective networks.
    """
    f = np.float32
    correction = {
        "ll": "1111987777654456789" + "A" * 5,
        "ll128": "11111988877666666899991" + "A",
        "simple": "9999999876655556787789" + "99",
    }
    best, least = None, f(np.inf)
    for a in ALGORITHMS:
        for p in PROTOCOLS:
            latency, bandwidth = (f(x) for x in table.cells[collective, a, p])
            if not bandwidth:
                continue
            step = (nbytes >> 6).bit_length() - 1
            if a == "tree" and 0 <= step < 23:
                digit = correction[p][step]
                bandwidth *= f(1.0 if digit in "1A" else int(digit) / 10)
            comm = model.comm
            full = nbytes // (comm.channels * comm.ranks) >= 64
            if (
                (a, p, collective) == ("ring", "simple", "all_reduce")
                and comm.nodes > 1
                and full
            ):
                latency = f(float(latency) * 1.4)
            time = latency + f(nbytes) / (f(1000) * bandwidth)
            if time < least:
                best, least = (a, p), time
    return best


def check_choice(table: PrintedTable, printed: Tuning, model: Tuning) -> None:
    """Check choices at random sizes: by hand from the table, from the table, from the model.

    The printed digits decide none of these sizes.
    """
    for number, c in enumerate(COLLECTIVES):
        for nbytes in map(int, sizes(number)):
            by_table, by_model = printed.choice(c, nbytes), model.choice(c, nbytes)
            assert (by_table.algorithm, by_table.protocol) == argmin(table, printed, c, nbytes)
            assert (by_table.algorithm, by_table.protocol, by_table.channels) == (
                by_model.algorithm,
                by_model.protocol,
                by_model.channels,
            )


def test_our_table_comes_out_of_its_graphs(data: Path, graph_dump: Path) -> None:
    """105 cells of latency and bandwidth, and 21 numbers of threads, all of them."""
    table, model = ours(data, graph_dump)
    assert differences(table, model) == []
    # PAT was off, and NCCL 2.30.7 prints its threads as 0.
    assert threads(table, model) == []
    assert len(table.cells) == 105


def test_our_choice_is_that_of_the_table(data: Path, graph_dump: Path) -> None:
    """At 1,000 sizes for each of five collectives."""
    table, model = ours(data, graph_dump)
    printed = printed_tuning(table, model.comm, "2.30.7")
    check_choice(table, printed, model)


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case.file[:3])
def test_published_tables_come_out(shared_data: Path, case: Published) -> None:
    """Every cell of three published tables, with graph numbers fitted to three of them."""
    log = read_log(shared_data / "public" / case.file)
    assert log.version == case.version
    model = tuning(case.comm, case.version)
    assert differences(log.tables[0], model) == []
    assert threads(log.tables[0], model) == []
    assert log.problems == ()


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case.file[:3])
def test_published_choices_are_those_of_the_tables(shared_data: Path, case: Published) -> None:
    """At 1,000 sizes for each collective: from the printed digits, and from the model."""
    log = read_log(shared_data / "public" / case.file)
    model = tuning(case.comm, case.version)
    comm = log_communicator(
        log, case.comm.capability, ranks=2, nodes=case.comm.nodes, channels=case.comm.channels
    )
    printed = printed_tuning(log.tables[0], comm, case.version)
    check_choice(log.tables[0], printed, model)


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case.file[:3])
def test_chosen_lines_are_what_the_model_chooses(shared_data: Path, case: Published) -> None:
    """Algorithm, protocol and channels of every line: 72, 654 and 654."""
    log = read_log(shared_data / "public" / case.file)
    model = tuning(case.comm, case.version)
    assert len(log.chosen) in {72, 654}
    for row in log.chosen:
        assert row.collective is not None
        assert row.channels is not None
        nbytes = row.total_bytes
        assert nbytes is not None
        choice = model.choice(row.collective, nbytes)
        assert (row.algorithm, row.protocol) == (choice.algorithm, choice.protocol)
        launched = model.launched(row.collective, choice.algorithm, choice.protocol, nbytes)
        assert row.channels == (0, launched - 1)


def test_the_search_finds_what_the_tables_show() -> None:
    """Two GPUs of a DGX H100: the graph numbers that reproduce 195, by the search's rules."""
    derived = communicator(Cluster.load("dgx-h100", ranks=2))
    published = PUBLISHED[2].comm
    for name in ("ring", "tree", "nvls"):
        one, two = derived.graphs[name], published.graphs[name]
        assert (one.channels, one.bw_intra, one.bw_inter) == (
            two.channels,
            two.bw_intra,
            two.bw_inter,
        )
    assert (derived.channels, derived.nvls_channels) == (24, 16)
    assert published.channels == 24
