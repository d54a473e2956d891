"""nccl-tests' JSON output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collsim.calibrate.importers import read_log
from collsim.calibrate.importers.nccl_json import IMPORTER, marks
from collsim.core.measurements import Measurements
from collsim.errors import FileError

SECRET = "TOKEN=hunter2"


def half(time: Any = 20.0, **more: Any) -> dict[str, Any]:
    """Return one half of a result: 1 MiB, all_reduce on 8 ranks."""
    return {"time": time, "alg_bw": 52.4288, "bus_bw": 91.7504, "nwrong": 0.0, **more}


def document(**more: Any) -> dict[str, Any]:
    """Return what 2.19.6 writes."""
    devices = [
        {"rank": r, "group": 0, "pid": 11, "hostname": f"node-{r // 4}", "device": r % 4,
         "device_hex": "0000:00:06", "device_info": "Made-up GPU"}
        for r in range(8)
    ]  # fmt: skip
    config = {"nthreads": 1, "ngpus": 4, "validation": 1, "graph": 0, "devices": devices}
    result = {
        "size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "    -1",
        "out_of_place": half(), "in_place": half(), "actual_iterations": 20,
    }  # fmt: skip
    return {
        "version": 3, "start_time": "2026-01-02 03:04:05",
        "args": ["./build/all_reduce_perf", "-b", SECRET], "env": [SECRET, "B={}[]\""],
        "nccl_version": 23007, "config": config, "results": [result],
        "out_of_bounds": {"count": 0, "okay": "true"}, "errors": [SECRET], **more,
    }  # fmt: skip


def parse(text: str) -> Measurements:
    """Read JSON from memory."""
    return IMPORTER.read("a.json", text.splitlines(keepends=True))


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("indent", [None, 1])
def test_everything_that_the_text_would_say(version: int, indent: int | None) -> None:
    """Collective, ranks, nodes, version, process model; the root is text."""
    text = json.dumps(document(version=version), indent=indent)
    rows = parse(text)
    assert (len(rows), rows.left_out, rows.notes) == (2, (), ())
    row = rows.rows[0]
    assert (row.collective, row.ranks, row.nodes, row.nbytes) == ("all_reduce", 8, 2, 1048576)
    assert (row.seconds, row.op, row.root, row.wrong, row.dtype) == (
        2e-5,
        "sum",
        None,
        0,
        "float",
    )
    source = row.source
    assert (source.version, source.clock) == ("NCCL 2.30.7", "host")
    assert (source.process_model, source.device) == ("4 GPUs per process", "Made-up GPU")
    if indent is not None:
        assert '"size"' in text.splitlines()[source.line]


def test_the_environment_is_neither_kept_nor_shown() -> None:
    """Not in rows, notes, reasons or errors."""
    rows = parse(json.dumps(document(version=9), indent=1))
    assert SECRET not in repr(rows)
    assert rows.notes == ("a.json: schema version 9 of nccl-tests is not known",)
    with pytest.raises(FileError) as caught:
        parse(json.dumps(document(results=[]), indent=1))
    assert SECRET not in str(caught.value)


def test_not_a_number_and_what_was_not_checked() -> None:
    """A time of nan leaves its half out; a #wrong of nan means that nobody looked."""
    result = document()["results"][0]
    result |= {"out_of_place": half("nan"), "in_place": half(nwrong="nan")}
    rows = parse(json.dumps(document(results=[result])))
    assert [(row.in_place, row.wrong) for row in rows] == [(True, None)]
    assert rows.left_out[0].reason.startswith("out of place: time nan")
    config = document()["config"] | {"validation": 0}
    assert parse(json.dumps(document(config=config))).values("wrong") == (None,)


def test_processor_time_and_graphs_are_other_clocks() -> None:
    """-C and -G."""
    result = document()["results"][0]
    for name in ("out_of_place", "in_place"):
        del result[name]["time"]
        result[name]["cpu_time"] = 20.0
    config = document()["config"] | {"graph": 1}
    rows = parse(json.dumps(document(results=[result], config=config)))
    assert rows.rows[0].source.clock == "CPU time, CUDA graph"


def test_statistics_per_iteration_are_skipped() -> None:
    """With `out_of_place_per_iter` between the halves."""
    result = document()["results"][0] | {"out_of_place_per_iter": {"times_us": [1.0] * 99}}
    assert len(parse(json.dumps(document(results=[result])))) == 2


def test_a_cut_file_keeps_its_whole_results() -> None:
    """A run that was killed; the place is named."""
    result = document()["results"][0]
    text = json.dumps(document(results=[result] * 3), indent=1)
    cut = text[: text.rindex('"bus_bw"')]
    rows = parse(cut)
    assert len(rows) == 4
    (left,) = rows.left_out
    assert left.line == cut.count("\n") + 1
    assert left.reason == "no whole JSON: cut here; what follows is not read"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"size": "8"}, "a result without a whole size and count"),
        ({"size": True}, "a result without a whole size and count"),
        ({"size": 10**30}, "a result without a whole size and count"),
        ({"type": "quad"}, "a result of type 'quad'"),
        ({"in_place": half(nwrong=3.0)}, "in place: 3 elements are wrong"),
        ({"in_place": half(0.02)}, "in place: 1048576 bytes in 0.02 us are more than"),
        ({"in_place": half(40.0)}, "in place: algbw 52.4288 does not follow from 1048576"),
        ({"in_place": 7}, "in place: time nan, algbw nan, busbw nan: expected numbers"),
    ],
)
def test_results_that_cannot_be_used(changes: dict[str, Any], reason: str) -> None:
    """They are named, and the others stay."""
    good = document()["results"][0]
    rows = parse(json.dumps(document(results=[good, good | changes])))
    assert len(rows) >= 2
    assert rows.left_out[0].reason.startswith(reason)


def test_two_runs_in_one_file() -> None:
    """As `cat` joins them."""
    other = document(args=["./broadcast_perf"])
    other["results"][0] |= {
        "root": "     0", "redop": "none",
        "out_of_place": half(bus_bw=52.4288), "in_place": half(bus_bw=52.4288),
    }  # fmt: skip
    rows = parse(json.dumps(document()) + "\n" + json.dumps(other))
    assert rows.values("collective") == ("all_reduce", "broadcast")
    assert rows.values("root") == (0, None)


def test_it_is_told_by_its_content(write: Callable[..., str]) -> None:
    """Not by its name."""
    path = write(json.dumps(document(), indent=1), "a.txt")
    assert len(read_log(path)) == 2
    assert marks('  "nccl_version": 23007,')


def test_a_real_file(shared_data: Path) -> None:
    """One rank: eight sizes, nothing done in place."""
    rows = read_log(shared_data / "ours" / "nccl_tests_1gpu_all_reduce.json")
    assert (len(rows), len(rows.left_out), rows.values("ranks")) == (8, 8, (1,))
