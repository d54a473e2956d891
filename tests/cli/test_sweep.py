"""``collsim sweep`` on the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from collsim.cli.program.bar import Bar
from collsim.sweeps.point import COLUMNS

Run = Callable[..., Result]


@pytest.fixture
def grid(tmp_path: Path) -> str:
    """Return the path of a grid: a point that can be, and one that can't."""
    path = tmp_path / "grid.toml"
    path.write_text(
        'schema = "collsim/grid/1"\ncollectives = "all_reduce"\nalgorithms = "swing"\n'
        'sizes = ["1KiB", "1MiB"]\n[[clusters]]\nalpha = "1us"\nbandwidth = "1GB/s"\n'
        "ranks = [2, 3]\n"
    )
    return str(path)


def test_table_for_a_reader(run: Run, grid: str) -> None:
    """Times where there are some, and below why not where there are none."""
    done = run("sweep --workers 1", grid)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split()[:5] == ["cluster", "nodes", "ranks", "collective", "size"]
    assert " ".join(lines[2].split()) == "ideal 1 2 all_reduce 1MiB swing 1 1050.6 1.00"
    assert " ".join(lines[3].split()) == "ideal 1 3 all_reduce 1KiB swing - [1] -"
    assert lines[5].startswith("[1] all_reduce/swing: ")
    assert "2 of 4 rows have no time; their column `reason` says why" in done.stderr


def test_json_and_csv(run: Run, grid: str) -> None:
    """One object, and a table; the keys are the same."""
    found = json.loads(run("sweep --json --workers 1", grid).stdout)
    assert found["schema"] == "collsim/sweep/1"
    assert (found["cluster"], found["collective"], found["ranks"]) == (
        "ideal", "all_reduce", None,
    )  # fmt: skip
    assert [tuple(row) for row in found["rows"]] == [COLUMNS] * 4
    rows = list(csv.DictReader(io.StringIO(run("sweep --csv --workers 1", grid).stdout)))
    assert [row["size"] for row in rows] == ["1024", "1048576"] * 2
    assert [row["time_us"] for row in rows] == [
        "" if row["time_us"] is None else str(row["time_us"]) for row in found["rows"]
    ]


def test_streamed_to_a_file_and_gone_on_with(run: Run, grid: str, tmp_path: Path) -> None:
    """JSON lines by the file's ending; what is there already is not run again."""
    out = str(tmp_path / "out.jsonl")
    done = run("sweep --workers 1", grid, "-o", out)
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"4 rows written to {out}" in done.stderr
    text = Path(out).read_text()
    assert [json.loads(line)["point"] for line in text.splitlines()] == [0, 0, 1, 1]
    Path(out).write_text(text[:-10])
    done = run("sweep --workers 1 --resume", grid, "-o", out)
    assert f"2 rows written to {out}" in done.stderr
    assert Path(out).read_text() == text


def test_json_goes_to_any_file_as_one_object(run: Run, grid: str, tmp_path: Path) -> None:
    """As that of every other command."""
    out = tmp_path / "out.json"
    run("sweep --workers 1 --json", grid, "-o", str(out))
    assert len(json.loads(out.read_text())["rows"]) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume"], "--resume needs the -o FILE"),
        (["-o", "x.txt"], "-o x.txt: expected a file that ends in .csv, or .jsonl"),
        (["--csv", "-o", "x.jsonl"], "-o x.jsonl: expected a file that ends in .csv"),
        (["--json", "--csv"], "--json and --csv"),
        (["--workers", "2", "--scheduler", "tcp://x"], "--workers and --scheduler"),
    ],
)
def test_what_excludes_itself(
    fails: Callable[..., str], grid: str, words: list[str], message: str
) -> None:
    """Is wrong usage, before anything is run."""
    assert fails("sweep", grid, *words, code=2).startswith(message)


def test_a_file_that_is_wrong(fails: Callable[..., str], tmp_path: Path) -> None:
    """Missing, broken, or with a key that nobody knows."""
    assert "No such file" in fails("sweep nowhere.toml", code=1)
    path = tmp_path / "grid.toml"
    path.write_text('schema = "collsim/grid/1"\nsize = 3\n')
    message = fails("sweep", str(path), code=1)
    assert message.startswith(f"{path}: size: unknown key; did you mean 'sizes'?")
    path.write_text('schema = "collsim/sweep/1"\nsizes = 3\n')
    message = fails("sweep", str(path), code=1)
    assert "got 'collsim/sweep/1', expected 'collsim/grid/1'" in message


def test_a_grid_of_which_nothing_can_be_predicted(fails: Callable[..., str], grid: str) -> None:
    """The rows are there, and it is a failure."""
    text = Path(grid).read_text()
    Path(grid).write_text(text.replace("[2, 3]", "3"))
    message = fails("sweep --workers 1", grid, code=1)
    assert message.startswith(f"{grid}: nothing of it can be predicted; all_reduce/swing: ")


class Terminal(io.StringIO):
    """A stderr that is one."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_bar_is_drawn_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many of all, and the rest at the pace so far."""
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setattr("collsim.cli.program.bar._PAUSE", 0.0)
        monkeypatch.setattr("time.monotonic", iter(range(0, 100, 10)).__next__)
        bar = Bar(8)
        bar.begin(2)
        bar.advance("ring")
        bar.finish()
        drawn = stream.getvalue().split("\r\x1b[K")
        assert drawn == (
            [
                "",
                "[######------------------] 2/8  ",
                "[#########---------------] 3/8, about 2 min left  ring",
                "",
            ]
            if shown
            else [""]
        )
