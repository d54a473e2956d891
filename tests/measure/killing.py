"""Start the program, kill one of its ranks, and look at what is left; also for a benchmark."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

RANKS = 4
TIMEOUT = 15.0
# One that is killed must end well before a call that hangs would.
PATIENCE = 2 * TIMEOUT + 15


@dataclass(frozen=True)
class Aftermath:
    """What a run with a killed rank left behind."""

    code: int
    last: str
    seconds: float
    rows_before: int
    rows_after: int
    left: list[int]


def start(folder: Path, *words: str, ranks: int = RANKS) -> subprocess.Popen[str]:
    """Start measuring; everything it makes lies in `folder`, which so marks its processes."""
    command = [sys.executable, "-m", "collsim", "calibrate", "measure", *words]
    command += [
        "--ranks",
        str(ranks),
        "--timeout",
        f"{TIMEOUT}s",
        "-o",
        str(folder / "m.jsonl"),
    ]
    return subprocess.Popen(
        command, env=os.environ | {"TMPDIR": str(folder)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip


def marked(folder: Path) -> dict[int, list[str]]:
    """Return the running processes whose arguments name the folder."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, UnicodeDecodeError):
            continue
        if state != "Z" and any(str(folder) in word for word in words):
            found[int(entry.name)] = words
    return found


def rank_of(folder: Path, rank: int, patience: float = 20.0) -> int:
    """Return the process of one rank, once it is there."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        for number, words in marked(folder).items():
            if "collsim.measure" in words and words[words.index("collsim.measure") + 2] == str(
                rank
            ):
                return number
        time.sleep(0.02)
    raise AssertionError(f"rank {rank} never started")


def gone(folder: Path, patience: float = 10.0) -> list[int]:
    """Return the processes that are still there after a while."""
    until = time.monotonic() + patience
    while marked(folder) and time.monotonic() < until:
        time.sleep(0.05)
    return sorted(marked(folder))


def rows_in(folder: Path) -> int:
    """Return the number of whole rows, all of which must be readable."""
    path = folder / "m.jsonl"
    if not path.exists():
        return 0
    lines = path.read_bytes().split(b"\n")[:-1]
    return sum("seconds" in json.loads(line) for line in lines)


def kill_one(folder: Path, seed: int) -> Aftermath:
    """Measure on four ranks and kill a random one of them at a random moment."""
    chance = random.Random(seed)
    run = start(folder, "p2p", "all_reduce", "broadcast", "-b", "8", "-e", "1M", "-f", "4",
        "--algorithm", "ring", "--algorithm", "library", "-n", "50")  # fmt: skip
    try:
        victim = rank_of(folder, chance.randrange(RANKS))
        time.sleep(chance.uniform(0.0, 4.0))
        before = rows_in(folder)
        began = time.monotonic()
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError as error:
            _, text = run.communicate(timeout=PATIENCE)
            raise AssertionError(f"over before its rank was killed: {text}") from error
        _, text = run.communicate(timeout=PATIENCE)
        seconds = time.monotonic() - began
    finally:
        if run.poll() is None:
            run.kill()
            run.communicate()
    last = text.splitlines()[-1] if text else ""
    return Aftermath(run.returncode, last, seconds, before, rows_in(folder), gone(folder))
