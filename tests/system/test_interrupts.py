"""Ctrl-C at any moment: one line, exit code 130, and what was begun is undone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INTERRUPTED = (130, "Error: interrupted\n")

# Each runs the program after it has arranged for a Ctrl-C at one moment.
BEGIN = """\
import signal, sys
def press():
    signal.raise_signal(signal.SIGINT)
def run(*words):
    from collsim.__main__ import main
    sys.argv = ["collsim", *words]
    main()
"""
WHILE_LOADING = """\
class Finder:
    def find_spec(name, *_):
        if name == "click":
            press()
sys.meta_path.insert(0, Finder)
run("--version")
"""
# A module in C that is interrupted says "initialization failed", or worse.
IN_C = """\
from importlib.machinery import ExtensionFileLoader
LOADS = ExtensionFileLoader.exec_module.__code__
def inside(frame):
    return frame and (frame.f_code is LOADS or inside(frame.f_back))
class Finder:
    def find_spec(name, *_):
        if inside(sys._getframe()):
            sys.meta_path.remove(Finder)
            press()
            print("went on")
sys.meta_path.insert(0, Finder)
run("predict", "all_reduce")
"""
IN_A_STRING = """\
import collsim.choose.verify as room
room.verify = lambda *a, **k: exec("press()")
run("verify")
"""
UNHEARD = """\
import time, collsim.choose.verify as room
class Unheard:
    def __del__(self):
        press()
def verify(*a, **k):
    Unheard()
    time.sleep(60)
room.verify = verify
run("verify")
"""
TWICE = """\
import collsim.choose.verify as room
def verify(*a, **k):
    try:
        press()
    finally:
        press()
        print("undone")
room.verify = verify
run("verify")
"""
AT_THE_END = """\
import atexit
atexit.register(press)
run("--version")
"""
IGNORED = """\
signal.signal(signal.SIGINT, signal.SIG_IGN)
import collsim.choose.verify as room
room.verify = lambda *a, **k: press()
try:
    run("verify")
except AttributeError:
    print("went on")
"""


def pressed(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code as ``python -m collsim`` is run."""
    (folder / "attack.py").write_text(BEGIN + code)
    return subprocess.run(
        [sys.executable, "-m", "attack"], capture_output=True, text=True, check=False,
        timeout=60, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (WHILE_LOADING, ""),
        (IN_C, "went on\n"),
        (IN_A_STRING, ""),
        (UNHEARD, ""),
        (TWICE, "undone\n"),
    ],
    ids=["loading", "loading a module in C", "in a string", "unheard", "twice"],
)
def test_one_line_and_130(tmp_path: Path, code: str, said: str) -> None:
    """Whatever is under way; a second Ctrl-C does not stop what the first one undoes."""
    done = pressed(code, tmp_path)
    assert (done.returncode, done.stderr) == INTERRUPTED
    assert done.stdout == said


def test_an_answer_that_is_out_counts(tmp_path: Path) -> None:
    """Ctrl-C while Python puts its own things away changes nothing."""
    done = pressed(AT_THE_END, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("collsim ")


WORKERS = """\
import os, threading, collsim.sweeps.pool as pool
before = pool._submit
def submit(*what):
    found = before(*what)
    pool._submit = before
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
    return found
pool._submit = submit
if __name__ == "__main__":
    run("sweep", "grid.toml", "--workers", "2", "-o", "out.csv")
"""
GRID = """\
schema = "collsim/grid/1"
collectives = ["all_reduce"]
algorithms = ["ring"]
sizes = ["1GiB"]
[[clusters]]
cluster = "dgx-h100"
nodes = [32, 33, 34, 35, 36, 37, 38, 39]
"""


def test_a_request_to_end_ends_workers_in_order(tmp_path: Path) -> None:
    """SIGTERM of a sweep: no word of Python's own about processes that were left."""
    (tmp_path / "grid.toml").write_text(GRID)
    done = pressed(WORKERS, tmp_path)
    assert done.returncode == 143
    note, error = done.stderr.splitlines()
    assert re.fullmatch(r"note: \d of 8 points are in out.csv; --resume goes on", note)
    assert error == "Error: ended by SIGTERM"


def test_what_is_ignored_stays_so(tmp_path: Path) -> None:
    """As behind nohup."""
    done = pressed(IGNORED, tmp_path)
    assert done.stdout == "went on\n"


def test_in_a_program_of_ones_own_all_is_as_before() -> None:
    """Who calls the commands in process keeps handlers of signals."""
    from click.testing import CliRunner

    from collsim.cli.main import main

    def handlers() -> list[object]:
        asked = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
        found: list[object] = [signal.getsignal(one) for one in asked]
        return [*found, sys.unraisablehook]

    before = handlers()
    assert CliRunner().invoke(main, ["list", "links"]).exit_code == 0
    assert handlers() == before
