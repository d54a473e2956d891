"""The file of live measurements: every finished row is there, whatever ended the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from collsim.core.measurements_file import SCHEMA, RowFile, read_rows
from collsim.errors import FileError, InputError

ROW = {
    "clock": "host", "collective": "broadcast", "ranks": 2, "size": 8, "seconds": 1e-6,
    "world": 2,
}  # fmt: skip


def test_a_header_stands_where_the_source_changes(tmp_path: Path) -> None:
    """Rows of one library share it; another begins anew; a reader sees both on each row."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        for library in ("a", "a", "b"):
            file.append({**ROW, "library": library, "root": None})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("schema") for line in lines] == [SCHEMA, None, None, SCHEMA, None]
    assert lines[1] == {
        "collective": "broadcast", "ranks": 2, "size": 8, "seconds": 1e-6,
        "detail": {"world": 2},
    }  # fmt: skip
    assert [row["library"] for row in read_rows(path)] == ["a", "a", "b"]
    assert read_rows(path)[0] == {**ROW, "library": "a"}


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    """Unless the run resumes it."""
    path = tmp_path / "m.jsonl"
    path.write_text("")
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


HEAD = f'{{"schema": "{SCHEMA}"'


@pytest.mark.parametrize(
    "text",
    [
        b"my notes\n", b"my notes", b'{"a": 1}\n', b'{"schema": "collsim/cluster/1"}\n',
        b'{"a": [1, 2', b'{"a": 1}', b'{\n  "a": 1\n}', b'{\n  "a": 1\n}\n', b"\x7fELF\0{",
        b"\0\1\n{", b'{"schema": "other"}\n{"cut', f'{HEAD}, "rows": []}}'.encode(),
        f"{HEAD}}}\nnotes".encode(), f"{HEAD}}}\nnotes\n{{".encode(), b"[" * 100_000 + b"\n",
    ],
)  # fmt: skip
def test_another_file_is_refused(tmp_path: Path, text: bytes) -> None:
    """And left as it is, to the byte."""
    path = tmp_path / "notes.txt"
    path.write_bytes(text)
    with pytest.raises(FileError, match=r"is no (file of measurements|row of)"):
        RowFile(path, resume=True)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    "text", ["", "{", HEAD[:20], HEAD, f'{HEAD}, "clock": "ho', f"{HEAD}}}"]
)
def test_a_header_that_was_cut_is_begun_anew(tmp_path: Path, text: str) -> None:
    """It is all that is there, and the beginning of what a run writes."""
    path = tmp_path / "m.jsonl"
    path.write_text(text)
    with RowFile(path, resume=True) as file:
        file.append(ROW)
    assert read_rows(path) == [ROW]


@pytest.mark.parametrize("resume", [False, True])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, resume: bool) -> None:
    """A pipe, a device and a folder keep no rows, and a folder that is missing neither."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/full"), tmp_path / "no" / "m.jsonl"):
        with pytest.raises(FileError, match=r"exists|regular|directory|no such folder"):
            RowFile(path, resume=resume)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_file_without_a_row_is_removed(tmp_path: Path) -> None:
    """If it was made here; one that was there stays, and so does a link."""
    path, mine, link = (tmp_path / name for name in ("m.jsonl", "mine.jsonl", "link"))
    for resume in (False, True):
        RowFile(path, resume).close()
        assert not path.exists()
    mine.write_text("")
    RowFile(mine, resume=True).close()
    assert mine.exists()
    link.symlink_to(path)
    RowFile(link, resume=True).close()
    assert link.is_symlink()
    assert not path.exists()


def test_a_full_disk_is_seen_before_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the file that could be made, but not be filled, is removed again."""
    full = SimpleNamespace(f_blocks=9, f_bfree=0)
    monkeypatch.setattr("os.fstatvfs", lambda descriptor: full)
    for resume in (False, True):
        with pytest.raises(FileError, match="No space left on device"):
            RowFile(tmp_path / "m.jsonl", resume)
    assert list(tmp_path.iterdir()) == []


def test_one_run_writes_at_a_time(tmp_path: Path) -> None:
    """The second is refused, and takes nothing from the first."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        with pytest.raises(FileError, match="another run is writing it"):
            RowFile(path, resume=True)
        file.append(ROW)
    with RowFile(path, resume=True) as file:
        assert file.rows == [ROW]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ranks": None}, "line 3: ranks: is missing"),
        ({"size": "8"}, "line 3: size: got '8'"),
        ({"collective": "brodcast"}, "line 3: unknown collective"),
        ({"seconds": -1.0}, "line 3: seconds: got -1.0"),
        ({"runs": "schedule"}, "line 3: algorithm: is missing"),
        ({"world": "two"}, "line 3: world: got 'two'"),
    ],
)
def test_a_row_that_lacks_something_is_named(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    """By its line and column, before anybody counts with it."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        file.append(ROW)
        file.append({**ROW, **change})
    before = path.read_bytes()
    with pytest.raises(FileError, match=message):
        read_rows(path)
    with pytest.raises(FileError, match=message):
        RowFile(path, resume=True)
    assert path.read_bytes() == before


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


@pytest.mark.parametrize("zeros", ["\0" * 64, "\0" * 64 + "\n"])
def test_zeros_of_a_lost_power_are_cut_off(tmp_path: Path, zeros: str) -> None:
    """Of a block that was promised and never written; the rows before them count."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        file.append(ROW)
    with path.open("a") as raw:
        raw.write(zeros)
    assert read_rows(path) == [ROW]
    with RowFile(path, resume=True) as file:
        assert file.rows == [ROW]
        file.append({**ROW, "size": 16})
    assert [row["size"] for row in read_rows(path)] == [8, 16]


@pytest.mark.parametrize("pair", [[0, 5], [0], "01", [0, "1"], [0, -1], [0, True]])
def test_pairs_are_two_ranks_of_the_run(tmp_path: Path, pair: object) -> None:
    """Anything else is named by its line."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        file.append({**ROW, "pairs": [[0, 1], pair]})
    with pytest.raises(FileError, match=r"line 2: pairs: got .*, expected (two )?ranks"):
        read_rows(path)


def test_a_file_that_was_removed_comes_back(tmp_path: Path) -> None:
    """With all rows, at the next of them; nothing is measured for nobody."""
    path = tmp_path / "m.jsonl"
    with RowFile(path) as file:
        file.append(ROW)
        path.unlink()
        with pytest.raises(
            FileError, match="was removed while rows were measured; they are th"
        ):
            file.append({**ROW, "size": 16})
    assert [row["size"] for row in read_rows(path)] == [8, 16]
    with RowFile(path, resume=True) as file:
        assert len(file.rows) == 2


def test_a_file_that_was_replaced_is_left_alone(tmp_path: Path) -> None:
    """The rows go beside it."""
    path, kept = tmp_path / "m.jsonl", tmp_path / "m.jsonl.kept"
    with RowFile(path) as file:
        path.unlink()
        path.write_text("mine")
        with pytest.raises(FileError, match=f"replaced by another file .* they are in {kept}"):
            file.append(ROW)
    assert path.read_text() == "mine"
    assert read_rows(kept) == [ROW]


def test_rows_are_no_standard_error(tmp_path: Path) -> None:
    """Where that was closed, a library's complaints would go into the file."""
    code = (
        "import os; from collsim.core.measurements_file import RowFile;"
        f"file = RowFile({str(tmp_path / 'm.jsonl')!r});"
        f"file.append({ROW!r}); os.write(2, b'oops')"
    )
    # The write to a descriptor that nobody holds fails; nothing else may.
    words = ["/bin/sh", "-c", '"$0" -c "$1" 2>&-', sys.executable, code]
    done = subprocess.run(words, check=False)
    assert done.returncode == 1
    assert read_rows(tmp_path / "m.jsonl") == [ROW]
    assert "oops" not in (tmp_path / "m.jsonl").read_text()
