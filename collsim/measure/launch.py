"""Start one's own ranks on this machine, watch them, and leave none behind."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any, Final

from collsim.core.collective import check_ranks
from collsim.errors import InputError, MeasureError, MissingExtraError
from collsim.measure.job import Job

__all__ = ["check_installed", "check_own_ranks", "own_ranks"]

_PER_CORE: Final = 16
_POLL: Final = 0.02
_GRACE: Final = 1.0  # seconds in which the others may say what they saw
_END: Final = 2.0  # seconds between asking a process to end and ending it


def check_installed(backend: str) -> None:
    """Raise MissingExtraError if a backend's library is not there; nothing is loaded."""
    extras = {"gloo": ("torch", "measure"), "nccl": ("torch", "measure")}
    libraries = [extras.get(backend, ("torch", "nccl4py"))]
    if backend == "nccl4py":
        libraries.append(("nccl", "nccl4py"))
    for library, extra in libraries:
        if importlib.util.find_spec(library) is None:
            raise MissingExtraError("nccl4py" if library == "nccl" else library, extra)


def check_own_ranks(ranks: int) -> None:
    """Raise InputError if this machine should not be asked for so many ranks.

    Each is a process with a library of hundreds of MB, and they take turns on the cores.
    """
    check_ranks(ranks)
    cores = len(os.sched_getaffinity(0))
    if ranks > _PER_CORE * cores:
        raise InputError(
            f"ranks: got {ranks} on {cores} cores, expected at most {_PER_CORE * cores}"
        )


def own_ranks(job: Job, ranks: int) -> None:
    """Run a job on so many processes of this machine.

    Whatever happens, all of them are gone when this returns or raises; should this process
    itself be killed, the system ends them.

    Parameters
    ----------
    job : Job
        What to measure; its file holds the rows afterwards.
    ranks : int
        How many.

    Raises
    ------
    MeasureError
        If a rank died, hung, or got wrong data; says which, and at what.
    """
    check_own_ranks(ranks)
    with tempfile.TemporaryDirectory(prefix="collsim-") as folder:
        with open(os.path.join(folder, "job.json"), "w", encoding="utf-8") as file:
            file.write(job.to_json())
        running: list[subprocess.Popen[bytes]] = []
        try:
            for rank in range(ranks):
                running += [_start(folder, rank, ranks)]
            _wait(running, folder)
        finally:
            _end(running)


def _start(folder: str, rank: int, ranks: int) -> subprocess.Popen[bytes]:
    words = [folder, str(rank), str(ranks), str(os.getpid())]
    return subprocess.Popen(
        [sys.executable, "-m", "collsim.measure", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        # Where it was closed, a rank's first socket would take its place.
        stderr=subprocess.DEVNULL if sys.stderr is None else None,
        # Ctrl-C is for this process, which then ends the ranks.
        start_new_session=True,
    )


def _wait(running: Sequence[subprocess.Popen[bytes]], folder: str) -> None:
    """Wait until all have ended well; MeasureError at the first that has not."""
    while True:
        codes = [process.poll() for process in running]
        if any(code not in (None, 0) for code in codes):
            stopped = [r for r, process in enumerate(running) if _is_stopped(process.pid)]
            break
        if all(code == 0 for code in codes):
            return
        time.sleep(_POLL)
    until = time.monotonic() + _GRACE
    while time.monotonic() < until and None in codes:
        codes = [process.poll() for process in running]
        time.sleep(_POLL)
    said = [_said(folder, rank) for rank in range(len(running))]
    raise MeasureError(_cause(codes, said, stopped))


def _is_stopped(number: int) -> bool:
    """Tell whether a process is stopped, by a signal or a debugger, and so holds up others."""
    try:
        with open(f"/proc/{number}/stat", encoding="ascii", errors="replace") as file:
            # The name before it, in brackets, may hold anything.
            return file.read().rpartition(")")[2].split()[0] in ("T", "t")
    except (OSError, IndexError):
        return False


def _said(folder: str, rank: int) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        with open(os.path.join(folder, f"rank-{rank}.json"), encoding="utf-8") as file:
            found = json.load(file)
        if isinstance(found, dict):
            return found
    return {}


def _cause(
    codes: Sequence[int | None], said: Sequence[dict[str, Any]], stopped: Sequence[int] = ()
) -> str:
    """Say what went wrong first: a death explains the errors of the others.

    Examples
    --------
    >>> said = [{"at": "all_reduce/ring, 8B", "message": "peer closed", "kind": "peer"}, {}]
    >>> _cause([1, -9], said)
    'rank 1 was ended by SIGKILL; rank 0 was at all_reduce/ring, 8B'

    What a rank said before it died is the cause, not how it died afterwards:

    >>> _cause([-6, None], [{"kind": "hung", "message": "all_reduce: timed out"}, {}])
    'all_reduce: timed out'

    One that was stopped is late, and whoever waits for it notices:

    >>> said = [{"kind": "hung", "message": "timed out", "at": "shift, 8B"}, {}]
    >>> _cause([1, None], said, stopped=[1])
    'rank 1 is stopped (SIGSTOP, or a debugger); rank 0 was at shift, 8B'
    """
    place = next(
        (f"; rank {r} was at {s['at']}" for r, s in enumerate(said) if s.get("at")), ""
    )
    for rank, code in enumerate(codes):
        if code is not None and code < 0 and not said[rank]:
            return f"rank {rank} was ended by {_signal(-code)}{place}"
    if stopped and not any(found.get("kind") == "data" for found in said):
        which = ", ".join(map(str, stopped))
        ranks = f"rank {which} is" if len(stopped) == 1 else f"ranks {which} are"
        return f"{ranks} stopped (SIGSTOP, or a debugger){place}"
    for kind in ("data", "hung", "other", "peer"):
        for found in said:
            if found.get("kind") == kind:
                return str(found["message"])
    for rank, code in enumerate(codes):
        if code:
            return f"rank {rank} ended with exit code {code}{place}"
    return f"a rank failed{place}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """End what still runs, first politely, then for certain, and wait for it."""
    left = [process for process in running if process.poll() is None]
    for process in left:
        process.terminate()
    until = time.monotonic() + _END
    for process in left:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
    for process in left:
        if process.poll() is None:
            process.kill()
        process.wait()
