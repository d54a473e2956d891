"""`collsim simulate`."""

from __future__ import annotations

from typing import Any

import pytest

LINE = "simulate broadcast --algorithm mst -s 1000 --alpha 1us --bandwidth 1GB/s --ranks 4"


def test_json_conforms(answer: Any, conforms: Any) -> None:
    """Four ranks: two rounds, three messages, 2 (1 + 1) us."""
    found = answer(LINE)
    conforms(found, "simulate")
    (row,) = found["rows"]
    assert (row["rounds"], row["operations"], row["model"]) == (2, 3, "event")
    assert row["makespan_us"] == pytest.approx(4, rel=1e-12)
    assert row["time_us"] == row["makespan_us"]


def test_critical_path_leads_to_the_end(answer: Any) -> None:
    """It starts at 0, ends at the makespan, and names who sends what to whom."""
    (row,) = answer(LINE)["rows"]
    first, last = row["critical_path"][0], row["critical_path"][-1]
    assert first == {
        "operation": 0,
        "round": 1,
        "src": 0,
        "dst": 2,
        "bytes": 1000.0,
        "start_us": 0.0,
        "finish_us": pytest.approx(2, rel=1e-12),
        "why": "start",
        "waiting_us": 0.0,
    }
    assert last["finish_us"] == row["makespan_us"]


def test_table_says_where_the_time_goes(run: Any) -> None:
    """Rounds, operations, makespan with its parts, and the path."""
    lines = run(LINE).stdout.splitlines()
    assert lines[1:4] == [
        "rounds      2",
        "operations  3",
        "makespan    4.00 us = alpha 2.00 + beta 2.00",
    ]
    assert lines[5] == "critical path, 2 of 3 operations:"


def test_long_paths_are_cut_in_the_table_only(run: Any, answer: Any) -> None:
    """A path of 62 steps shows 20 and says how many more there are."""
    line = "simulate all_reduce --algorithm ring -s 1MiB --ranks 32"
    assert "... 42 more ..." in run(line).stdout
    assert len(answer(line)["rows"][0]["critical_path"]) == 62


def test_auto_takes_what_predict_takes(answer: Any) -> None:
    """The fastest algorithm and its best chunks, with the same time."""
    line = "broadcast -s 1GiB --ranks 8"
    (predicted,) = answer(f"predict {line}")["rows"]
    (simulated,) = answer(f"simulate {line} --algorithm auto")["rows"]
    for key in ("algorithm", "chunks"):
        assert simulated[key] == predicted[key]
    assert simulated["time_us"] == pytest.approx(predicted["time_us"], rel=1e-9)


def test_one_rank_does_nothing(answer: Any, run: Any) -> None:
    """No operation, no path, no time."""
    (row,) = answer("simulate reduce --algorithm ring -s 8 --ranks 1")["rows"]
    assert (row["operations"], row["critical_path"], row["makespan_us"]) == (0, [], 0)
    assert "critical path" not in run("simulate reduce --algorithm ring -s 8 --ranks 1").stdout


def test_rounds_count_from_one(answer: Any, run: Any) -> None:
    """In JSON as in the table."""
    line = "simulate all_reduce --algorithm mst -s 1MiB --ranks 4"
    (row,) = answer(line)["rows"]
    assert [step["round"] for step in row["critical_path"]] == [1, 2, 3, 4]
    assert row["rounds"] == 4
    table = run(line).stdout.splitlines()[-4:]
    assert [line.split()[1] for line in table] == ["1", "2", "3", "4"]


def test_csv_leaves_the_path_out(run: Any) -> None:
    """One line of plain cells, and the help says so."""
    head, line = run(f"{LINE} --csv").stdout.splitlines()
    assert head.endswith(",rounds,operations,makespan_us")
    assert len(line.split(",")) == len(head.split(","))
    text = " ".join(run("simulate --help").stdout.split())
    assert "the critical path, which the CSV leaves out" in text


def test_algorithm_is_auto_by_default(answer: Any, run: Any) -> None:
    """The answer names the one that was taken."""
    line = "simulate all_reduce -s 1GiB --ranks 8"
    assert answer(line) == answer(f"{line} --algorithm auto")
    assert run(line).stdout.splitlines()[0].endswith(", 1GiB, algorithm halving_doubling")


def test_needs_one_algorithm_and_one_size(fails: Any) -> None:
    """Anything else is wrong usage; sweeps are not even options."""
    assert fails("simulate reduce", code=2).startswith("Missing option '-s' / '--size';")
    two = "-s/--size: got 2 sizes, expected one"
    assert fails("simulate reduce --algorithm mst -s 1 -s 2", code=2) == two
    assert "No such option" in fails("simulate reduce -b 8", code=2)
    assert "expected one NAME" in fails("simulate reduce --algorithm all -s 1", code=2)


def test_sharing_a_link_is_told_from_waiting_for_data(run: Any, answer: Any) -> None:
    """Under fair sharing a message starts when its data are there, and is slowed down then."""
    line = "simulate all_reduce --algorithm ring -s 64M -c pcie-8"
    (row,) = answer(line)["rows"]
    waits = [step["waiting_us"] for step in row["critical_path"]]
    assert sum(waits) == pytest.approx(row["waiting_us"])
    slowed = [text for text in run(line).stdout.splitlines() if "sharing its links" in text]
    assert len(slowed) == sum(wait > 1e-3 for wait in waits) > 0
    assert "sharing its links" not in run(f"{line} --sharing fifo").stdout


def test_copies_inside_a_rank_are_no_messages(run: Any) -> None:
    """Three rounds of eight messages, and as many copies, are told apart."""
    line = "simulate all_reduce -s 1K --algorithm"
    lines = run(f"{line} recursive_doubling").stdout.splitlines()
    assert "operations  48 (24 messages, 24 copies inside a rank)" in lines
    assert "operations  112" in run(f"{line} ring").stdout.splitlines()
