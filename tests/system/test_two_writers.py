"""Two processes write one file: it is whole, one or the other's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from collsim.errors import FileError
from collsim.files import write_parts
from collsim.sweeps.point import COLUMNS
from collsim.sweeps.rows_file import RowsFile, header, lines

ROW = dict.fromkeys(COLUMNS) | {"sweep": "abc", "point": 0, "size": 8}


def test_a_file_is_whole_whoever_came_last(tmp_path: Path) -> None:
    """Eight write a megabyte in parts, 20 times each; a reader sees whole ones only."""
    path = tmp_path / "out"
    code = (
        "import sys\n"
        "from collsim.files import write_parts\n"
        "for _ in range(20):\n"
        "    write_parts(sys.argv[1], (sys.argv[2].encode() * 50_000 for _ in range(20)))\n"
    )
    write_parts(path, [b"x" * 1_000_000])
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "abcdefgh"
    ]
    seen = set()
    while any(process.poll() is None for process in running):
        data = path.read_bytes()
        assert data == data[:1] * 1_000_000
        seen.add(data[:1])
    assert [process.returncode for process in running] == [0] * 8
    assert len(seen) > 1
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("resume", [False, True])
def test_rows_have_one_writer(tmp_path: Path, kind: str, resume: bool) -> None:
    """A second sweep of one file is refused, and changes nothing of it."""
    path = tmp_path / f"out.{kind}"
    with RowsFile(str(path), "abc") as file:
        file.add([ROW])
        with pytest.raises(FileError, match="another run is writing it"):
            RowsFile(str(path), "abc", resume)
        file.add([ROW])
    assert path.read_text() == header(kind) + lines(kind, [ROW]) * 2
    with RowsFile(str(path), "abc", resume=True) as file:
        assert file.done == 0


@pytest.mark.parametrize(
    "text", ["my notes", '{"sweep": "other"', '{"sweep": "abc", "points"', "x" * 2_000_000]
)
def test_a_line_of_somebody_else_is_no_cut_row(tmp_path: Path, text: str) -> None:
    """It has no end, but does not begin as a row does; so it stays."""
    path = tmp_path / "out.jsonl"
    path.write_text(text)
    with pytest.raises(FileError, match="line 1: is no row of a sweep"):
        RowsFile(str(path), "abc", resume=True)
    assert path.read_text() == text


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_row_that_was_cut_is_taken_off(tmp_path: Path, kind: str) -> None:
    """At any byte of it."""
    path = tmp_path / f"out.{kind}"
    whole = header(kind) + lines(kind, [ROW])
    for length in range(1, len(whole)):
        path.write_text(whole[:length])
        with RowsFile(str(path), "abc", resume=True) as file:
            file.add([ROW])
        assert path.read_text() == whole
