"""Inputs that are no ordinary file: each is refused or told of, none takes all memory."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from collsim.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
LOG = str(ROOT / "examples" / "nccl_tests_all_reduce_8gpu.txt")
READS = {
    "log": ["calibrate", "fit", "{}"],
    "cluster": ["predict", "all_reduce", "-c", "{}"],
    "profile": ["predict", "all_reduce", "--profile", "{}"],
    "profile of check": ["check", LOG, "--profile", "{}"],
    "schedule": ["predict", "-s", "8", "--schedule", "{}"],
    "topology": ["import", "topology", "{}"],
    "workload": ["estimate", "{}"],
    "grid": ["sweep", "{}"],
    "shown cluster": ["show", "cluster", "{}"],
    "rows": [
        "plot",
        "crossover",
        "all_reduce",
        "mst",
        "ring",
        "-o",
        "x.svg",
        "--measured",
        "{}",
    ],
}


def read(name: str, path: str | Path) -> tuple[int, str]:
    """Return the exit code and the last line of a command that reads a file."""
    words = [word.format(path) for word in READS[name]]
    done = CliRunner().invoke(main, words, prog_name="collsim")
    assert isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", READS)
def test_what_holds_no_text(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, a socket, links in a circle, a link to nowhere, nothing at all."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        Path("loop").symlink_to("pool")
        Path("pool").symlink_to("loop")
        Path("link").symlink_to("nowhere")
        Path("folder").mkdir()
        reasons = {
            "folder": "Is a directory",
            "socket": "No such device or address",
            "loop": "Too many levels of symbolic links",
            "link": "No such file or directory",
        }
        for path, reason in reasons.items():
            code, line = read(name, tmp_path / path)
            assert (code, line) == (1, f"Error: {tmp_path / path}: {reason}")
        code, line = read(name, "/dev/null")
        assert code == 1
        assert line.startswith("Error: ")


ENDLESS = """\
from pathlib import Path
from collsim.cli.main import main
from click.testing import CliRunner
for words in {commands!r}:
    done = CliRunner().invoke(main, words)
    print(done.exit_code, done.stderr.splitlines()[-1][:16])
# Of this program alone: what getrusage tells begins with what its parent had.
status = Path("/proc/self/status").read_text()
print(status.partition("VmHWM:")[2].split()[0])
"""


def test_a_device_without_an_end(tmp_path: Path) -> None:
    """Zeros, or noise, for ever: each reader stops early, and holds little of it."""
    commands = [
        [word.format(device) for word in words]
        for words in READS.values()
        for device in ("/dev/zero", "/dev/urandom")
    ]
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS.format(commands=commands)], capture_output=True,
        text=True, check=True, cwd=tmp_path, timeout=300,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    *said, peak = done.stdout.splitlines()
    assert set(said) == {"1 Error: /dev/zero", "1 Error: /dev/uran"}
    assert len(said) == len(commands)
    assert int(peak) < 500 << 10


def _opened(pipe: Path) -> int | None:
    """Return the end of a pipe to write to; None while nobody reads it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return None


def test_a_pipe_is_told_of(tmp_path: Path) -> None:
    """Nobody writes to it yet, so the note comes before the waiting."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "collsim", "check", str(pipe)], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    note = f"note: {pipe} is a pipe: waiting until somebody writes to it\n"
    assert process.stderr.readline() == note
    # To open it and wait would be to wait for ever, had the program ended by now.
    end = time.monotonic() + 60
    while (writer := _opened(pipe)) is None and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    if writer is not None:
        os.write(writer, b"no log\n")
        os.close(writer)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert stderr.startswith(f"Error: {pipe}: no measurements in a known format")


def test_a_large_file_is_told_of(tmp_path: Path) -> None:
    """A gigabyte of one line; on the disk it has no room."""
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    done = CliRunner().invoke(main, ["calibrate", "fit", str(path)])
    assert done.exit_code == 1
    note, error = done.stderr.splitlines()
    assert note == f"note: {path} has 1GiB, which takes a while to read"
    assert error.startswith(f"Error: {path}: is no text up to line 1")
