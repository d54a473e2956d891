"""Measured rows as nccl-tests prints them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.calibrate.importers import read_log
from collsim.core.measurements_file import read_rows
from collsim.report.measured_table import KEYS, measured_rows, measured_text

ROOT = Path(__file__).resolve().parents[2]


def row(**more: Any) -> dict[str, Any]:
    """Return a row of an all_gather on two nodes of two."""
    return {
        "pattern": "collective", "runs": "library", "collective": "all_gather", "ranks": 4,
        "nodes": 2, "size": 4096, "count": 1024, "dtype": "float", "in_place": False,
        "wrong": 0, "seconds": 4.096e-6, "low": 4e-6, "high": 5e-6, "repetitions": 20,
        "clock": "CUDA events", "library": "NCCL 2.30.7", "device": "A GPU", **more,
    }  # fmt: skip


def test_our_own_reader_takes_the_table(tmp_path: Path) -> None:
    """Collective, ranks, nodes, bytes, count of one rank, seconds and device come back."""
    path = tmp_path / "table.txt"
    path.write_text(measured_text([row(), row(collective="reduce", op="sum", root=1)]))
    gather, reduce = read_log(path)
    assert (gather.collective, gather.ranks, gather.nodes) == ("all_gather", 4, 2)
    assert (gather.nbytes, gather.count, gather.wrong) == (4096, 256, 0)
    assert abs(gather.seconds - 4.1e-6) < 0.01e-6
    assert gather.source.device == "A GPU"
    assert (reduce.collective, reduce.op, reduce.root) == ("reduce", "sum", 1)


def test_bandwidths_follow_from_size_and_time() -> None:
    """1 GB/s, of which three quarters cross a link."""
    made = measured_rows([row()])[0]
    assert tuple(made) == KEYS
    found = (made["time_us"], made["algbw"], made["busbw"])
    assert found == pytest.approx((4.096, 1.0, 0.75))


def test_every_kind_of_row_is_shown() -> None:
    """A table for each algorithm, and one of messages."""
    text = measured_text(read_rows(ROOT / "examples" / "gloo_4_ranks.jsonl"))
    assert text.count("# Collective test starting: ") == 6
    assert "collsim's ring, collsim's schedules on Gloo of torch" in text
    for pattern in ("ping_pong", "relay", "pairs", "exchange", "shift", "start", "self", "add"):
        assert f"\n{pattern} " in text


def test_nothing_is_said_in_words() -> None:
    """Where all was left out."""
    assert measured_text([]) == "nothing was measured"
