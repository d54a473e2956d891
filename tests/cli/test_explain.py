"""`collsim explain`."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from collsim.algorithms import algorithm_names, refusal

LINE = "explain broadcast --ranks 6 --chunks 1"


def test_shows_both_ends_and_their_rounds(run: Any) -> None:
    """MST in three rounds, the ring in five, with who sends to whom."""
    text = run(LINE).stdout
    rounds = [line.strip() for line in text.splitlines() if line.startswith("    round ")]
    tree = ["0 -> 3", "0 -> 2, 3 -> 5", "0 -> 1, 3 -> 4"]
    ring = ["0 -> 1", "1 -> 2", "2 -> 3", "3 -> 4", "4 -> 5"]
    assert rounds == [f"round {i}: {r}" for part in (tree, ring) for i, r in enumerate(part, 1)]


def test_json_has_a_row_for_each_algorithm_and_size(answer: Any) -> None:
    """1 KiB pays 3 alpha and hardly any n beta; 1 GB the other way round."""
    found = answer(LINE)
    assert found["schema"] == "collsim/explain/1"
    assert (found["cluster"], found["collective"], found["ranks"]) == (
        "textbook-h100",
        "broadcast",
        6,
    )
    rows = {(row["algorithm"], row["size"]): row for row in found["rows"]}
    assert list(rows) == [("mst", 1024), ("mst", 1e9), ("ring", 1024), ("ring", 1e9)]
    assert rows["mst", 1024]["alpha_us"] == pytest.approx(30)
    assert rows["mst", 1024]["beta_us"] == pytest.approx(3 * 1024 / 9e5)
    assert rows["mst", 1e9]["rules"] == "beta"
    assert [story["rounds"] for story in found["algorithms"]] == [3, 5]


def test_bandwidth_is_in_the_unit_of_all_answers(answer: Any) -> None:
    """GB/s, as `show cluster` has it."""
    (message,) = answer(f"{LINE} -c textbook-h100")["messages"]
    (link,) = answer("show cluster textbook-h100")["rows"]
    assert message["bandwidth"] == link["bandwidth"] == 900


def test_swap_reads_as_in_crossover(run: Any) -> None:
    """The same size in the same form."""
    network = "--alpha 10us --bandwidth 900GB/s --ranks 8"
    assert "It turns at 75.53MiB (" in run(f"explain broadcast {network}").stdout
    assert "= 75.53MiB" in run(f"crossover broadcast mst ring {network}").stdout


def test_csv_has_the_same_rows(run: Any, answer: Any) -> None:
    """With the keys as header."""
    rows = list(csv.DictReader(io.StringIO(run(f"{LINE} --csv").stdout)))
    assert [list(row) for row in rows] == [list(row) for row in answer(LINE)["rows"]]


def test_algorithms_and_sizes_are_chosen(answer: Any) -> None:
    """Several of each; all is all."""
    found = answer("explain gather --algorithm linear --algorithm mst -s 1K -s 1M -s 1G")
    assert [story["name"] for story in found["algorithms"]] == ["linear", "mst"]
    assert found["sizes"] == [2**10, 2**20, 2**30]
    every = answer("explain gather --algorithm all -s 1K")["algorithms"]
    here = [name for name in algorithm_names("gather") if refusal("gather", name, 8) is None]
    assert [story["name"] for story in every] == here


def test_unknown_algorithm_is_a_failure(fails: Any) -> None:
    """With the nearest."""
    message = fails("explain broadcast --algorithm rign", code=1)
    assert message.startswith("unknown algorithm of broadcast 'rign'; did you mean 'ring'?")
