"""Nodes without a switch on the command line: rings over cables of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Answer = Callable[..., dict[str, Any]]

RING = "all_reduce --algorithm ring -c dgx1-v100"


def test_predict_takes_all_rings(answer: Answer) -> None:
    """Six rings of an NVLink each; --channels 1 is one, over the pairs that have two."""
    (row,) = answer(f"predict {RING} -s 1G")["rows"]
    assert row["channels"] == 6
    assert 0.98 * 150 < row["busbw"] < 150
    (one,) = answer(f"predict {RING} -s 1G --channels 1")["rows"]
    assert 0.98 * 50 < one["busbw"] < 50


def test_a_simulation_is_of_the_same_rings(answer: Answer) -> None:
    """Predict, simulate and an exported schedule have one time."""
    (row,) = answer(f"predict {RING} -s 64M")["rows"]
    assert answer(f"simulate {RING} -s 64M")["rows"][0]["makespan_us"] == row["time_us"]


def test_an_exported_schedule_has_the_rings(run: Run, answer: Answer, tmp_path: Path) -> None:
    """Read again, it is right and takes the time that was predicted."""
    file = tmp_path / "ring.xml"
    run(f"export {RING} --channels 6 --format msccl -o {file}")
    assert "ok" in run(f"verify --schedule {file}").stdout
    (row,) = answer(f"predict --schedule {file} -c dgx1-v100 -s 1G")["rows"]
    (own,) = answer(f"predict {RING} -s 1G")["rows"]
    assert row["time_us"] == own["time_us"]


def test_nccls_model_and_the_simulation_agree(answer: Answer) -> None:
    """NCCL takes an NVLink of a V100 for 20 GB/s, its datasheet says 25."""
    (row,) = answer("choose all_reduce -c dgx1-v100 --against nccl -b 256M")["rows"]
    assert row["nccl_algorithm"] == "ring"
    assert 0.75 < row["nccl_us"] / row["nccl_model_us"] < 1
