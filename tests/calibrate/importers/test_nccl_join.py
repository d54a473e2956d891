"""NCCL's chosen lines joined to the rows of the same run."""

from __future__ import annotations

from types import ModuleType

from collsim.calibrate.importers.nccl_tests import IMPORTER

read = IMPORTER.read

INFO = "node-a:7:9 [0] NCCL INFO {}\n"
NAMED = "{}: {} Bytes -> Algo {} proto {} channel{{Lo..Hi}}={{0..7}}"
SIZES = {"sizes": (1024, 4096)}


def chosen(name: str, nbytes: int, algorithm: str, protocol: str) -> str:
    """Return a line of 2.24 and later."""
    return INFO.format(NAMED.format(name, nbytes, algorithm, protocol))


def test_total_and_per_rank_bytes_find_the_same_rows(synthetic: ModuleType) -> None:
    """512 bytes for each of 8 ranks from 2.24 on, 4096 altogether before."""
    log = synthetic.log("all_gather", 8, alpha=1e-6, beta=1e-11, **SIZES)
    new = chosen("AllGather", 128, "RING", "LL") + chosen("AllGather", 512, "PAT", "SIMPLE")
    old = INFO.format("1024 Bytes -> Algo 1 proto 0 time 9.9")
    old += INFO.format("AllGather: 4096 Bytes -> Algo 6 proto 2 time 9.9")
    for lines in (new, old):
        rows = read("a.log", (lines + log).splitlines())
        found = {(row.nbytes, row.algorithm, row.protocol) for row in rows}
        assert found == {(1024, "ring", "ll"), (4096, "pat", "simple")}


def test_rows_that_the_log_is_silent_about_stay_open(synthetic: ModuleType) -> None:
    """Nothing is carried over from another size."""
    log = synthetic.log("all_reduce", 8, alpha=1e-6, beta=1e-11, **SIZES)
    rows = read("a.log", (chosen("AllReduce", 4096, "TREE", "LL") + log).splitlines())
    assert [(row.nbytes, row.algorithm) for row in rows][::2] == [(1024, None), (4096, "tree")]


def test_choices_that_differ_leave_open_what_differs(synthetic: ModuleType) -> None:
    """In place and out of place may differ; a note says so."""
    log = synthetic.log("all_reduce", 8, alpha=1e-6, beta=1e-11, sizes=(1024,))
    lines = chosen("AllReduce", 1024, "RING", "LL") + chosen("AllReduce", 1024, "RING", "LL128")
    rows = read("a.log", (lines + log).splitlines())
    assert {(row.algorithm, row.protocol) for row in rows} == {("ring", None)}
    note = "NCCL's log tells several choices at 1 size of all_reduce, first at 1024 bytes: "
    assert rows.notes == (f"a.log: {note}ring/ll, ring/ll128; only what they share is kept",)


def test_what_ran_wins_over_what_was_asked_for(synthetic: ModuleType) -> None:
    """NCCL_ALGO=Tree, but the log says ring."""
    log = synthetic.log("all_gather", 8, alpha=1e-6, beta=1e-11, sizes=(1024,))
    lines = INFO.format("NCCL_ALGO set by environment to Tree")
    lines += chosen("AllGather", 128, "RING", "SIMPLE")
    rows = read("a.log", (lines + log).splitlines())
    assert {(row.algorithm, row.protocol) for row in rows} == {("ring", "simple")}


def test_choices_end_with_their_run(synthetic: ModuleType) -> None:
    """The second run of a file says nothing of its own."""
    log = synthetic.log("all_reduce", 8, alpha=1e-6, beta=1e-11, sizes=(1024,))
    rows = read("a.log", (chosen("AllReduce", 1024, "RING", "LL") + log + log).splitlines())
    assert [row.algorithm for row in rows] == ["ring", "ring", None, None]


def test_two_messages_on_one_line(synthetic: ModuleType) -> None:
    """Two processes wrote at once."""
    log = synthetic.log("all_reduce", 8, alpha=1e-6, beta=1e-11, **SIZES)
    lines = chosen("AllReduce", 1024, "RING", "LL").rstrip("\n")
    lines += chosen("AllReduce", 4096, "TREE", "LL128")
    rows = read("a.log", (lines + log).splitlines())
    assert [row.algorithm for row in rows][::2] == ["ring", "tree"]
