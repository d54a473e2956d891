"""Rows of a sweep: right, in order, streamed, and gone on with."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import collsim
from collsim.errors import FileError, InputError
from collsim.sweeps import pool
from collsim.sweeps.point import COLUMNS, Change, Place, Point
from collsim.sweeps.pool import on_cores
from collsim.sweeps.spec import read_grid

TOML = """schema = "collsim/grid/1"
collectives = ["all_reduce", "broadcast"]
algorithms = ["ring", "auto"]
sizes = ["1KiB", "1MiB"]
[[clusters]]
cluster = "dgx-h100"
nodes = [1, 2]
gpus_per_node = [1, 2]
[[changes]]
name = "as it is"
[[changes]]
name = "bad NIC"
degrade = { "nic[0]" = 0.5 }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a grid of 32 points and 64 rows."""
    path = tmp_path / "grid.toml"
    path.write_text(TOML)
    return path


def test_rows_are_those_of_predict(file: Path) -> None:
    """Point by point, and a cluster without the part that is bad says so in its rows."""
    swept = collsim.sweep(file)
    assert (swept.points, swept.resumed, len(swept.rows)) == (32, 0, 64)
    assert [row["point"] for row in swept.rows] == [i // 2 for i in range(64)]
    for row in swept.rows:
        assert tuple(row) == COLUMNS
        if row["nodes"] == 1 and row["change"] == "bad NIC":
            assert row["time_us"] is None
            assert "nic" in row["reason"]
            continue
        gpus = row["ranks"] // row["nodes"]
        cluster = collsim.Cluster.load("dgx-h100", nodes=row["nodes"], gpus_per_node=gpus)
        if row["change"] == "bad NIC":
            cluster = collsim.degrade(cluster, "nic[0]", 0.5)
        (alone,) = collsim.predict(row["collective"], cluster, row["size"], row["asked"]).rows
        for key in ("time_us", "busbw", "algorithm", "chunks", "model", "efficiency"):
            assert row[key] == getattr(alone, key)
        assert row["reason"] is None


def test_files_hold_the_rows(file: Path, tmp_path: Path) -> None:
    """CSV with empty cells for what is not there, JSON lines with null, in the same order."""
    rows = collsim.sweep(file, tmp_path / "out.jsonl").rows
    text = (tmp_path / "out.jsonl").read_text()
    assert tuple(json.loads(line) for line in text.splitlines()) == rows
    collsim.sweep(file, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as lines:
        cells = list(csv.DictReader(lines))
    expected = [{key: "" if row[key] is None else str(row[key]) for key in row} for row in rows]
    assert cells == expected


def test_processes_change_nothing(file: Path, tmp_path: Path) -> None:
    """The same bytes from one process and from three."""
    collsim.sweep(file, tmp_path / "one.csv")
    collsim.sweep(file, tmp_path / "three.csv", workers=3)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "three.csv").read_bytes()


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_sweep_goes_on_wherever_it_was_cut(file: Path, tmp_path: Path, ending: str) -> None:
    """At any byte: within the columns, a row, a point, or at the very end."""
    whole = tmp_path / f"whole.{ending}"
    collsim.sweep(file, whole)
    data = whole.read_bytes()
    lines = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    for end in (0, 5, lines[0], lines[0] + 3, lines[6], lines[7], lines[7] + 9, len(data)):
        cut = tmp_path / f"cut.{ending}"
        cut.write_bytes(data[:end])
        swept = collsim.sweep(file, cut, resume=True)
        assert cut.read_bytes() == data, end
        assert swept.resumed + len({row["point"] for row in swept.rows}) == 32
        # Of what was there only the last point may have to be run again.
        there = max(0, data[:end].count(b"\n") - (ending == "csv"))
        assert swept.resumed >= there // 2 - 1


def test_what_is_there_is_not_overwritten(file: Path, tmp_path: Path) -> None:
    """Neither rows of this grid without resume, nor what is of another or no grid with it."""
    out = tmp_path / "out.csv"
    collsim.sweep(file, out)
    before = out.read_bytes()
    with pytest.raises(FileError, match="is there already; --resume goes on with it"):
        collsim.sweep(file, out)
    file.write_text(TOML.replace("1MiB", "2MiB"))
    with pytest.raises(FileError, match=r"line 2: is of sweep .* it has changed"):
        collsim.sweep(file, out, resume=True)
    file.write_text(TOML)
    for text, message in (
        ("size,time\n1,2\n", "line 1: are no columns of a sweep"),
        (before.decode().replace(",3,", ",4,", 1), "line 8: is of point 4, expected 2 or 3"),
        (before.decode().splitlines()[0] + "\nx,y\n", "line 2: is no row of a sweep"),
    ):
        out.write_text(text)
        with pytest.raises(FileError, match=message):
            collsim.sweep(file, out, resume=True)
        assert out.read_text() == text


def test_arguments_that_can_not_be(file: Path, tmp_path: Path) -> None:
    """Each is named, and nothing is written."""
    with pytest.raises(InputError, match=r"ends in \.csv or \.jsonl"):
        collsim.sweep(file, tmp_path / "out.txt")
    with pytest.raises(InputError, match="no output to go on with"):
        collsim.sweep(file, resume=True)
    with pytest.raises(InputError, match="workers: got 0, expected a whole number"):
        collsim.sweep(file, workers=0)
    with pytest.raises(FileError, match="No such file or directory"):
        collsim.sweep(file, tmp_path / "no" / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["grid.toml"]


def test_one_size_too_many_has_a_reason_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others of its point have their times."""
    ask = collsim.predict

    def refusing(name: str, cluster: Any, sizes: Any, *more: Any, **run: Any) -> Any:
        if 2 in sizes:
            raise InputError("2 bytes are too many")
        return ask(name, cluster, sizes, *more, **run)

    monkeypatch.setattr("collsim.sweeps.point.predict", refusing)
    grid = {
        "collectives": "all_reduce", "sizes": [1, 2, 3],
        "clusters": [{"alpha": "1us", "bandwidth": "1GB/s", "ranks": 2}],
    }  # fmt: skip
    rows = collsim.sweep(grid).rows
    assert [row["size"] for row in rows] == [1, 2, 3]
    assert [row["reason"] for row in rows] == [None, "2 bytes are too many", None]
    assert [row["time_us"] is None for row in rows] == [False, True, False]


class Deadly:
    """What ends the process that is handed it."""

    name = "deadly"

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return os._exit, (9,)


def test_a_process_that_is_ended_costs_its_own_point_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has the reason in its row, and all others are there, in order."""
    place = Place(ranks=2, alpha=1e-6, bandwidth=1e9)
    points = [
        Point("x", i, place, Change("fine"), "all_reduce", "ring", (8,)) for i in range(5)
    ]
    points[2] = replace(points[2], change=Deadly())  # type: ignore[arg-type]
    monkeypatch.setattr(pool, "_AHEAD", 1)
    found = list(on_cores(points, 2))
    assert [point.number for point, _ in found] == [0, 1, 2, 3, 4]
    reasons = [rows[0]["reason"] for _, rows in found]
    assert reasons[2] == "the process that ran it was ended, as when memory runs out"
    assert reasons[:2] == reasons[3:] == [None, None]


def children(process: int) -> list[int]:
    """Return the processes that one has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        if parent == process:
            found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_sweep_goes_on_and_leaves_nobody_behind(
    tmp_path: Path, how: signal.Signals
) -> None:
    """Whether it can say good-bye or not; what it had written counts."""
    file, out = tmp_path / "grid.toml", tmp_path / "out.csv"
    sizes = ", ".join(map(str, range(1, 20)))
    file.write_text(
        f'schema = "collsim/grid/1"\ncollectives = "all_reduce"\nsizes = [{sizes}]\n'
        'algorithms = "all"\n[[clusters]]\ncluster = "dgx-h100"\nnodes = [2, 3, 4, 5, 6, 7]\n'
        "gpus_per_node = [2, 3, 4, 5, 6]\n"
    )
    command = [sys.executable, "-m", "collsim", "sweep", str(file), "-o", str(out)]
    command += ["--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        while not (out.exists() and out.stat().st_size > 2000) and running.poll() is None:
            time.sleep(0.01)
        started = children(running.pid)
        running.send_signal(how)
        _, said = running.communicate(timeout=60)
    assert started
    if how == signal.SIGINT:
        assert running.returncode == 130
        assert said.splitlines()[-1] == "Error: interrupted"
        assert "--resume goes on" in said
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{child}").exists() for child in started):
        assert time.monotonic() < deadline, "a process outlives the sweep"
        time.sleep(0.05)
    lines = out.read_bytes().splitlines(keepends=True)
    assert 1 < len(lines) < 4000
    first = read_grid(str(file)).points[:2]
    assert lines[1].startswith(f"{first[0].sweep},0,dgx-h100,2,4,".encode())


def test_the_example_has_a_time_in_every_row() -> None:
    """Of all clusters and changes of the file that ships, here with one size and algorithm."""
    path = Path(__file__).parents[2] / "examples" / "sweep.toml"
    grid = tomllib.loads(path.read_text("utf-8")) | {"sizes": ["1MiB"], "algorithms": "ring"}
    rows = collsim.sweep(grid).rows
    assert len(rows) == 4 * 3 * 2
    assert [row["reason"] for row in rows if row["time_us"] is None] == []
