"""Run a command line as a process: exit code, signals, stderr as the system has them."""

from __future__ import annotations

import functools
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from robustness.documents import ROOT
from robustness.verdict import (
    ENDED,
    Case,
    Outcome,
    left_behind,
    said_wrongly,
    seconds_of,
)


def possible(case: Case) -> bool:
    """Return whether the system can pass the line on: no NUL byte, text that it can spell."""
    return all("\0" not in word for word in (*case.words, *case.environment.values()))


def judged(case: Case, folder: Path) -> Outcome:
    """Run a case in an empty folder and judge it; the folder is gone afterwards."""
    for name, data in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    temporary = folder.parent / f"{folder.name}-tmp"
    temporary.mkdir()
    environment = {
        **os.environ, **case.environment, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary),
        "PYTHONIOENCODING": "utf-8:surrogateescape",
    }  # fmt: skip
    before = _used()
    process = subprocess.Popen(
        [sys.executable, "-m", "collsim", *map(os.fsencode, case.words)],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=functools.partial(_limit, seconds_of(case)),  # noqa: PLW1509
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=12 * seconds_of(case))
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    seconds = _used() - before
    code = process.returncode
    stdout, stderr = (text.decode("utf-8", "surrogateescape") for text in (out, err))
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        why = f"slow: more than {seconds_of(case):g} s of CPU"
    elif code not in ENDED:
        why = f"exit code {code}: {stderr[-300:]!r}"
    else:
        why = said_wrongly(code, stdout, stderr, case.words)
        why = why or left_behind(folder, set(case.files), case, code)
    if not why and any(temporary.iterdir()):
        why = f"temporary files left: {sorted(p.name for p in temporary.iterdir())}"
    shutil.rmtree(folder)
    shutil.rmtree(temporary)
    last = (stderr.splitlines() or [""])[-1]
    return Outcome("failed" if why else ENDED[code], why, seconds, 0, last)


def _limit(most: float) -> None:
    """Let the system end what takes too much."""
    seconds = int(most) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def _used() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime
