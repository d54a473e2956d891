"""What `calibrate measure --json` prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log

ROW = {
    "pattern": "collective",
    "pairs": None,
    "collective": "all_reduce",
    "ranks": 4,
    "nodes": 1,
    "size": 1024,
    "algorithm": None,
    "in_place": True,
    "time_us": 250.0,
    "clock": "host",
    "library": "Gloo of torch 2.13.0",
    "device": None,
}


def answer(*rows: Any) -> str:
    """Return the text of an answer."""
    head = {"schema": "collsim/calibrate-measure/1", "cluster": None, "ranks": 4}
    return json.dumps({**head, "rows": [*rows]}, indent=2)


def test_rows_are_read(write: Callable[..., str]) -> None:
    """With where they came from; messages between ranks are no collective."""
    message = {**ROW, "pattern": "ping_pong", "collective": "sendrecv", "ranks": 2}
    shift = {**ROW, "pattern": "shift"}
    found = read_log(write(answer(ROW, message, shift)))
    assert [(r.collective, r.algorithm, r.in_place, r.nodes) for r in found] == [
        ("all_reduce", None, True, 1),
        ("sendrecv", "p2p", True, 1),
    ]
    assert found.rows[0].seconds == pytest.approx(2.5e-4)
    assert (found.rows[0].source.clock, found.rows[0].source.line) == ("host", 6)
    assert [left.reason for left in found.left_out] == [
        "shift, messages between ranks: no collective"
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**ROW, "time_us": None}, "time_us: got 'None', expected a number"),
        ({**ROW, "time_us": 0}, "a time of 0 cannot be true"),
        ({**ROW, "wrong": 3}, "3 elements are wrong"),
        ({**ROW, "collective": "all"}, "unknown collective 'all'"),
        ("x", "a row that is no JSON object of a usual size"),
    ],
)
def test_a_row_that_can_not_be_true_is_left_out(
    write: Callable[..., str], row: Any, reason: str
) -> None:
    """With its reason; the others stay."""
    found = read_log(write(answer(ROW, row)), ReadOptions(gpus_per_node=2))
    assert len(found) == 1
    assert found.left_out[0].reason.startswith(reason)
    assert found.left_out[0].failed == reason.endswith("wrong")


def test_a_cut_answer_keeps_its_whole_rows(write: Callable[..., str]) -> None:
    """And says that there was more."""
    text = answer({**ROW, "nodes": None}, ROW)
    found = read_log(write(text[: text.rindex("size")]), ReadOptions(gpus_per_node=2))
    assert found.values("nodes") == (2,)
    assert found.left_out[0].reason.startswith("no whole JSON: ")
