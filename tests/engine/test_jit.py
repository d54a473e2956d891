"""Where numba can't be loaded the same source runs as plain Python, and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = "simulate all_reduce --algorithm ring --ranks 72 -s 1GiB --sharing fair --json"


def run(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "collsim", *line.split()], cwd=ROOT,
        env=os.environ | variables, capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip


@pytest.fixture(scope="module")
def compiled() -> str:
    """Return the answer with numba, of 10,224 messages: more than plain Python is taken for."""
    return run(LINE).stdout


@pytest.mark.parametrize(
    "broken",
    [
        "raise ImportError('Numba needs NumPy 2.5 or less')",
        "raise OSError('Could not find libllvmlite.so')",
    ],
    ids=["too old", "without its library"],
)
def test_without_numba_the_numbers_are_the_same(
    compiled: str, tmp_path: Path, broken: str
) -> None:
    """To the last bit, with one line on stderr that says what to install."""
    (tmp_path / "numba.py").write_text(broken, "utf-8")
    done = run(LINE, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert done.stdout == compiled
    (said,) = [line for line in done.stderr.splitlines() if "numba" in line]
    reason = broken.split("'")[1]
    assert said.startswith(f"note: numba can't be loaded ({reason})")
    assert said.endswith("expected: pip install numba")


def test_switched_off_the_numbers_are_the_same(compiled: str) -> None:
    """By numba's own variable; whoever sets it needs no note."""
    done = run(LINE, NUMBA_DISABLE_JIT="1")
    assert done.stdout == compiled
    assert "numba" not in done.stderr
