"""The file of live measurements: every finished row is there, whatever ended the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collsim.core.measurements_file import SCHEMA, RowFile, read_rows
from collsim.errors import FileError, InputError

ROW = {"clock": "host", "collective": "broadcast", "size": 8, "seconds": 1e-6, "world": 2}


def test_a_header_stands_where_the_source_changes(tmp_path: Path) -> None:
    """Rows of one library share it; another begins anew; a reader sees both on each row."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        for library in ("a", "a", "b"):
            file.append({**ROW, "library": library, "root": None})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("schema") for line in lines] == [SCHEMA, None, None, SCHEMA, None]
    assert lines[1] == {
        "collective": "broadcast", "size": 8, "seconds": 1e-6, "detail": {"world": 2},
    }  # fmt: skip
    assert [row["library"] for row in read_rows(path)] == ["a", "a", "b"]
    assert read_rows(path)[0] == {**ROW, "library": "a"}


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    """Unless the run resumes it."""
    path = tmp_path / "m.jsonl"
    RowFile(path).close()
    with pytest.raises(FileError, match="exists; --resume goes on with it"):
        RowFile(path)
    with RowFile(path, resume=True) as file:
        assert file.rows == []


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_line_that_was_cut_is_cut_off(tmp_path: Path, cut: int) -> None:
    """By a full disk or a dead machine; the rows before it stay, the next one is whole."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        file.append(ROW)
        file.append({**ROW, "size": 16})
    path.write_bytes(path.read_bytes()[:-cut])
    assert [row["size"] for row in read_rows(path)] == [8]
    with RowFile(path, resume=True) as file:
        assert [row["size"] for row in file.rows] == [8]
        file.append({**ROW, "size": 32})
    assert [row["size"] for row in read_rows(path)] == [8, 32]


def test_another_file_is_refused(tmp_path: Path) -> None:
    """And left as it is."""
    path = tmp_path / "notes.txt"
    for text in ("my notes\n", "my notes", '{"a": 1}\n', '{"schema": "collsim/cluster/1"}\n'):
        path.write_text(text)
        with pytest.raises(FileError, match="is no file of measurements"):
            RowFile(path, resume=True)
        assert path.read_text() == text


def test_a_broken_row_is_named(tmp_path: Path) -> None:
    """By its line; a call that gave no row is none."""
    path = tmp_path / "m.jsonl"
    head = f'{{"schema": "{SCHEMA}"}}\n'
    path.write_text(f'{head}{{"left_out": "timed out"}}\n')
    assert read_rows(path) == []
    path.write_text(f"{head}nonsense\n")
    with pytest.raises(FileError, match="line 2 is no row"):
        read_rows(path)


def test_what_is_no_number_is_not_written(tmp_path: Path) -> None:
    """JSON has none for it."""
    with RowFile(tmp_path / "m.jsonl") as file, pytest.raises(InputError, match="finite"):
        file.append({**ROW, "seconds": float("nan")})
