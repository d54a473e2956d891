"""Where nothing can be written: one line that names the file, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from collsim.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
GRID = """\
schema = "collsim/grid/1"
collectives = ["all_reduce"]
algorithms = ["ring"]
sizes = ["1KiB"]
clusters = [{cluster = "dgx-h100"}]
"""
WRITES = {
    "answer": ["predict", "all_reduce", "-s", "8", "-o", "{}/x"],
    "picture": [
        *["plot", "timeline", "all_reduce", "--algorithm", "mst"],
        *["-s", "8", "--ranks", "4", "-o", "{}/x.svg"],
    ],
    "rows": ["sweep", "grid.toml", "--workers", "1", "-o", "{}/x.csv"],
}


def mounted(folder: Path, options: str) -> Iterator[Path]:
    """Yield a small file system of its own, or skip where there can be none."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"needs mount: {error}")
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(name="full")
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk without room."""
    for folder in mounted(tmp_path / "full", "size=64k"):
        with (folder / "fill").open("wb", buffering=0) as file:
            file.write(bytes(65536))
        yield folder


@pytest.fixture(name="readable")
def read_only(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk that can be read only, by root too."""
    yield from mounted(tmp_path / "readable", "size=64k,ro")


def fails(words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the last line of a command that writes to a folder."""
    monkeypatch.chdir(folder.parent)
    (folder.parent / "grid.toml").write_text(GRID)
    done = CliRunner().invoke(main, [word.format(folder) for word in words])
    assert done.exit_code == 1
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk(name: str, full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No temporary file, no empty one."""
    line = fails(WRITES[name], full, monkeypatch)
    path = WRITES[name][-1].format(full)
    assert line == f"Error: {path}: No space left on device"
    assert os.listdir(full) == ["fill"]


@pytest.mark.parametrize("name", WRITES)
def test_a_read_only_disk(name: str, readable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a stick with its switch on."""
    line = fails(WRITES[name], readable, monkeypatch)
    path = WRITES[name][-1].format(readable)
    assert line == f"Error: {path}: Read-only file system"


def test_what_no_file_is_to_blame_for(tmp_path: Path) -> None:
    """Too few open files for worker processes: not the fault of standard output."""
    code = (
        "import collsim.sweeps.pool as pool, errno, os\n"
        "def none(*_):\n"
        "    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))\n"
        "pool._submit = none\n"
        "from collsim.cli.main import main\n"
        "main(['sweep', 'grid.toml', '--workers', '2'])\n"
    )
    grid = GRID.replace('["ring"]', '["ring", "mst"]')
    (tmp_path / "grid.toml").write_text(grid)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
        check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "Error: the system: Too many open files\n")
