"""The file format of measured rows, written and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from collsim.calibrate.importers import read_log
from collsim.core.measurements import Measurement, Source
from collsim.core.measurements_file import RowFile
from collsim.core.measurements_format import (
    COLUMNS,
    ROW_COLUMNS,
    SCHEMA,
    SOURCE_COLUMNS,
    row_of,
    source_of,
)
from collsim.errors import FileError, InputError

SOURCE = Source(
    version="NCCL 2.30.7",
    clock="device, CUDA graph",
    process_model="one process",
    device="Made-up GPU",
    backend="nccl",
)
ROW = Measurement(
    "all_gather", 4, 4096, 1.25e-5, count=256, dtype="float", in_place=True, wrong=0, nodes=2,
    algorithm="bruck:radix=4", protocol="ll", source=SOURCE,
)  # fmt: skip
PLAIN = Measurement("broadcast", 2, 8, 1e-6, root=1)


def written(path: Path) -> list[Measurement]:
    """Return the rows of a file without their places in it."""
    rows = read_log(path).rows
    return [replace(row, source=replace(row.source, file="", line=0)) for row in rows]


def values_of(row: Measurement) -> dict[str, object]:
    """Return what a row of the format says, provenance included: what is known."""
    values = {name: getattr(row, field) for name, (field, _) in ROW_COLUMNS.items()}
    values |= {name: getattr(row.source, field) for name, field in SOURCE_COLUMNS.items()}
    return {name: value for name, value in values.items() if value is not None}


def add(path: Path, *rows: Measurement) -> None:
    """Append rows to a file."""
    with RowFile(path, resume=True) as file:
        for row in rows:
            file.append(values_of(row))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Bit by bit, each with its own provenance."""
    path = tmp_path / "a.jsonl"
    rows = [ROW, replace(ROW, seconds=1 / 3), PLAIN, ROW]
    add(path, *rows)
    assert written(path) == rows
    assert sum("schema" in json.loads(line) for line in path.read_text().splitlines()) == 3


def test_a_later_run_appends(tmp_path: Path) -> None:
    """After a line that was cut: that one is reported, and gone when the next run begins."""
    path = tmp_path / "a.jsonl"
    add(path, ROW, ROW)
    path.write_bytes(path.read_bytes()[:-20])
    found = read_log(path)
    assert (len(found), [str(left) for left in found.left_out]) == (
        1,
        [f"{path}:3: a row cut at the end of the file"],
    )
    add(path, PLAIN)
    assert written(path) == [ROW, PLAIN]


def test_calls_that_gave_no_row_are_kept(tmp_path: Path) -> None:
    """With their reason, on one line."""
    path = tmp_path / "a.jsonl"
    with RowFile(path) as file:
        file.append({"left_out": "timed out\nafter 60 s"})
        file.append(values_of(PLAIN))
    assert [str(left) for left in read_log(path).left_out] == [
        f"{path}:2: timed out after 60 s"
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"collective": "all_reduce", "ranks": 8, "size": 8}', "seconds: is missing"),
        (
            '{"collective": "all_reduce", "ranks": 8, "size": 8.0, "seconds": 1}',
            "size: got 8.0",
        ),
        (
            '{"collective": "all_reduce", "ranks": 8, "size": 8, "seconds": NaN}',
            "seconds: got n",
        ),
        (
            '{"collective": "all_reduce", "ranks": true, "size": 8, "seconds": 1}',
            "ranks: got Tr",
        ),
        ('{"collective": "all_redcue", "ranks": 8, "size": 8, "seconds": 1}', "all_reduce"),
        (
            '{"collective": "all_reduce", "ranks": 8, "size": 8, "seconds": 1e999}',
            "seconds: got",
        ),
        (
            '{"collective": "all_reduce", "ranks": 8, "size": 8, "seconds": 1'
            + "0" * 400
            + "}",
            "expected a finite number",
        ),
        (
            '{"collective": "all_reduce", "ranks": 8, "size": 1' + "0" * 5000 + "}",
            "no JSON object",
        ),
        (
            '{"collective": "all_reduce", "ranks": 8, "size": 8, "seconds": 1, "wrong": 3}',
            "3 el",
        ),
        ("[" * 5000, "no JSON object"),
        ("7", "no JSON object"),
    ],
)
def test_rows_that_cannot_be_used(tmp_path: Path, row: str, reason: str) -> None:
    """Each is named, and the others stay."""
    path = tmp_path / "a.jsonl"
    add(path, PLAIN)
    with path.open("a") as file:
        file.write(row + "\n")
    found = read_log(path)
    assert len(found) == 1
    assert reason in found.left_out[0].reason


def test_a_stranger_is_named(tmp_path: Path) -> None:
    """A key that nothing reads may be a slip; `detail` is the writer's own."""
    path = tmp_path / "a.jsonl"
    row = {"collective": "all_reduce", "ranks": 8, "size": 8, "seconds": 1, "protcol": "ll"}
    row |= {"detail": {"spread": 0.01}}
    path.write_text(json.dumps({"schema": SCHEMA}) + "\n" + json.dumps(row) + "\n")
    assert read_log(path).notes == (
        f"{path}: column 'protcol' is not read; did you mean protocol?",
    )


def test_another_version_of_the_format_is_refused(tmp_path: Path) -> None:
    """Its numbers may mean something else."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"schema": "collsim/measurements/2"}\n')
    with pytest.raises(FileError) as caught:
        read_log(path)
    assert str(caught.value) == (
        f"{path}: line 1: schema: got 'collsim/measurements/2', expected '{SCHEMA}', "
        "the version that this collsim 0.1.0 reads"
    )


def test_the_page_shows_what_is_read(root: Path, tmp_path: Path) -> None:
    """The example of docs/measurements.md is a file of this format."""
    page = (root / "docs" / "measurements.md").read_text("utf-8")
    path = tmp_path / "a.jsonl"
    path.write_text(page.split("```json\n")[1].split("```")[0], "utf-8")
    found = read_log(path)
    assert (len(found), len(found.left_out), found.notes) == (1, 1, ())
    assert all(f"`{name}`" in page for name in COLUMNS)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 2**70}, "size: got 1180591620717411303424, expected at most"),
        ({"count": 10**5000}, "count: got a number of thousands of digits, expected at most"),
        ({"ranks": [3] * 99}, r"ranks: got \[3, 3, .*\.\.\., expected a whole number"),
    ],
)
def test_what_does_not_fit_is_shown_as_far_as_it_fits_a_line(
    values: dict[str, object], message: str
) -> None:
    """Numbers that nothing has, and what is no number."""
    row = {"collective": "all_reduce", "ranks": 8, "size": 8, "seconds": 1e-5}
    with pytest.raises(InputError, match=message):
        row_of({**row, **values}, Source())


def test_provenance_is_text() -> None:
    """A version is written in quotes."""
    with pytest.raises(InputError, match=r"library: got 2\.18, expected text"):
        source_of({"library": 2.18})
