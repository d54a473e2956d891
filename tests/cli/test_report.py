"""`collsim calibrate report`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

OWN = str(Path(__file__).parents[2] / "examples" / "h200_one_gpu")
REPORT = f"calibrate report --torch /no/such/python --data {OWN}"


def test_the_page_goes_to_a_file(run: Any, tmp_path: Path) -> None:
    """Markdown; on stderr what is missing."""
    path = tmp_path / "validation.md"
    result = run(f"{REPORT} -o", str(path))
    assert path.read_text("utf-8").startswith("# How far to trust a fit\n")
    assert "note: /no/such/python can't be run: No such file or directory" in result.stderr
    assert f"note: {OWN} lacks the logs of a100-nvswitch-8, " in result.stderr


def test_json_conforms(answer: Any, conforms: Any) -> None:
    """A row for each contender."""
    found = answer(REPORT)
    conforms(found, "calibrate-report")
    assert [row["predictor"] for row in found["rows"]] == [
        "fitted",
        "three lines",
        "NCCL's model",
        "torch",
    ]
    assert found["torch"] is None


def test_csv_has_the_same_rows(run: Any) -> None:
    """Under one header."""
    rows = list(csv.DictReader(io.StringIO(run(f"{REPORT} --csv").stdout)))
    assert [row["line"] for row in rows] == ["forced"] * 4
    assert rows[0]["n"] == "414"


def test_a_folder_without_logs_is_an_error(fails: Any, tmp_path: Path) -> None:
    """One line that names it."""
    assert fails("calibrate report --data", str(tmp_path), code=1) == (
        f"{tmp_path}: has none of the logs that the model is held against"
    )


def test_nowhere_to_look_is_an_error(
    fails: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Away from the checkout, without --data."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert fails("calibrate report", code=1).startswith("--data: none of ")
