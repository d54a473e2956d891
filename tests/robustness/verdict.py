"""Run one case and judge it: how it ended, what it printed, what it left, what it took.

A case ends with an answer (exit 0), a refusal (1) or wrong usage (2), or it has failed here:
another exception or code, a last line that is no error, a warning, more than 10 s or 500 MB,
files left behind or half written, JSON that is none, a time that is none.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import os
import re
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from click.testing import CliRunner

from collsim.cli.main import main
from collsim.errors import CollsimError

SECONDS = 10.0
MEMORY = 500 * 2**20
# For more ranks than this, so much longer and so much more: they are refused, or answered.
RANKS = 512
LARGER = 6
ENDED = {0: "answered", 1: "refused", 2: "wrong usage"}
OLD = b"what was there before\n"


@dataclass(frozen=True)
class Case:
    """Something to try.

    Parameters
    ----------
    kind : str
        Which input it is about.
    how : str
        What was done to it.
    words : tuple of str
        A command line, run in a folder of `files`; file names starting with ``out`` are
        what it may write.
    files : mapping of str to bytes
    call : callable, optional
        What to call in that folder instead, and `words` say it to a reader.
    environment : mapping of str to str
    """

    kind: str
    how: str
    words: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    call: Callable[[], object] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What came of a case; `why` is what is wrong with it, "" for nothing."""

    ended: str
    why: str
    seconds: float
    memory: int
    message: str = ""


class TooSlow(BaseException):
    """Not to be caught by anything but the judge."""


class BrokenLawError(AssertionError):
    """A law that an answer breaks."""


def judged(case: Case, folder: Path) -> Outcome:
    """Run a case in an empty folder and judge it; the folder is gone afterwards."""
    before = set(_written(case, folder))
    begun, held = _cpu(), _memory_now()
    code, why, message = 1, "", ""
    try:
        with _inside(folder, case.environment), _limited(seconds_of(case)):
            if case.call is None:
                code, why, message = _commanded(case)
            else:
                code, message = _called(case.call)
    except TooSlow:
        why = f"slow: more than {seconds_of(case):g} s of CPU"
    except BrokenLawError as error:
        why = f"wrong: {error}"
    except BaseException as error:  # noqa: BLE001 - a traceback is what is looked for
        why = f"traceback: {trace_of(error)}"
    seconds, memory = _cpu() - begun, _memory_peak() - held
    if not why and seconds > seconds_of(case):
        why = f"slow: {seconds:.1f} s of CPU"
    if not why and memory > MEMORY * (seconds_of(case) / SECONDS):
        why = f"memory: {memory >> 20} MB more"
    why = why or left_behind(folder, before, case, code)
    shutil.rmtree(folder)
    return Outcome("failed" if why else ENDED[code], why, seconds, memory, message)


# The same, asked for by a key of the cluster's file.
_SET = {"network.nodes": "--nodes", "node.gpus": "--gpus-per-node"}


def seconds_of(case: Case) -> float:
    """Return how many seconds of CPU a case may take: more where it asks for many ranks."""
    counts = {"--ranks": 1, "--nodes": 1, "--gpus-per-node": 1}
    for option, value in pairwise(case.words):
        if option in counts and value.isdecimal() and len(value) < 10:
            counts[option] = max(counts[option], int(value))
        key, _, number = value.partition("=")
        if option == "--set" and key in _SET and number.isdecimal() and len(number) < 10:
            counts[_SET[key]] = max(counts[_SET[key]], int(number))
    inside = 72 if "gb200-nvl72" in case.words else 8
    ranks = counts["--nodes"] * max(inside, counts["--gpus-per-node"]) * counts["--ranks"]
    return SECONDS * (LARGER if ranks > RANKS else 1)


def _written(case: Case, folder: Path) -> Iterator[str]:
    for name, data in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        yield name
    (folder / "tmp").mkdir()


def _called(call: Callable[[], object]) -> tuple[int, str]:
    try:
        call()
    except CollsimError as error:
        if "\n" in str(error) or not str(error):
            raise BrokenLawError(f"not one line: {error!r}") from error
        return 1, str(error)
    return 0, ""


def _commanded(case: Case) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(case.words), prog_name="collsim")
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        return 1, f"traceback: {trace_of(error)}", ""
    if result.exit_code not in ENDED:
        return 1, f"exit code {result.exit_code}", ""
    return (
        result.exit_code,
        said_wrongly(result.exit_code, result.stdout, result.stderr, case.words),
        (result.stderr.splitlines() or [""])[-1],
    )


def said_wrongly(code: int, stdout: str, stderr: str, words: tuple[str, ...]) -> str:
    """Return what is wrong with what a command printed, or ""."""
    lines = stderr.splitlines()
    if "Traceback (most recent" in stderr or re.search(r"\w+Warning: ", stderr):
        return f"traceback or warning on stderr: {lines[-1][:200]}"
    errors = [i for i, line in enumerate(lines) if line.startswith("Error: ")]
    if code and (errors != [len(lines) - 1] or lines[-1] == "Error: "):
        return f"exit {code} without one last line of error: {lines[-3:]!r}"
    if code == 0 and errors:
        return f"exit 0 with an error: {lines[-1][:200]}"
    if code == 2 and not any(line.startswith("Usage: ") for line in lines):
        return f"exit 2 without usage: {lines[-1][:200]}"
    asked = {"--json", "--help", "-h", "--version"}.intersection(words)
    if code == 0 and asked == {"--json"} and stdout.strip():
        return no_json(stdout)
    return ""


def no_json(text: str) -> str:
    """Return what is wrong with a JSON answer, or ""."""
    try:
        answer = json.loads(text, parse_constant=_constant)
        _check_times("", answer)
    except BrokenLawError as error:
        return f"wrong: {error}"
    except ValueError as error:
        return f"no JSON: {error}"
    return "" if isinstance(answer, dict) and "schema" in answer else "JSON without a schema"


def _constant(name: str) -> None:
    raise BrokenLawError(f"JSON with {name}")


_TIMES = re.compile(r"(_us|seconds|algbw|busbw)$")


def _check_times(key: str, value: Any) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_times(name, inner)
    elif isinstance(value, list):
        for inner in value:
            _check_times(key, inner)
    elif isinstance(value, float | int):
        if not math.isfinite(value):
            raise BrokenLawError(f"{key} is {value}")
        if _TIMES.search(key) and value < 0:
            raise BrokenLawError(f"{key} is {value}")
        if key == "efficiency" and value > 1 + 1e-9:
            raise BrokenLawError(f"efficiency is {value}")


def left_behind(folder: Path, before: set[str], case: Case, code: int) -> str:
    """Return which file should not be there, or is not whole."""
    after = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    named = {os.path.normpath(word) for word in case.words if word and "\0" not in word}
    # Rows are kept as they come; a check and a verification print before they fail.
    kept = {"sweep", "measure", "run", "check", "verify", "rows"}.intersection(
        case.kind.split()
    )
    for name in sorted(after):
        data = (folder / name).read_bytes()
        if name in before and data == case.files[name]:
            continue
        if name not in named and not name.startswith("out") and case.how != "odd path":
            return f"file left behind: {name}"
        if code and not kept:
            return f"file written by what failed: {name}"
        if why := torn(name, data):
            return f"file not whole: {name}, {len(data)} bytes: {why}"
    gone = {os.path.normpath(name) for name in before} - after
    return f"file gone: {sorted(gone)}" if gone else ""


_ENDS = {
    ".png": b"IEND\xaeB`\x82", ".pdf": b"%%EOF", ".svg": b"</svg>", ".html": b"</html>",
}  # fmt: skip


def torn(name: str, data: bytes) -> str:
    """Return how a file does not end as its format does, or ""."""
    try:
        if name.endswith(".gz"):
            json.loads(gzip.decompress(data))
            return ""
        if data[:1] == b"{" and not name.endswith(".jsonl"):
            json.loads(data)
    except (OSError, ValueError, EOFError) as error:
        return str(error)
    end = _ENDS.get(Path(name).suffix, b"")
    return "" if not data or data.rstrip().endswith(end) else "the end of the format lacks"


def trace_of(error: BaseException) -> str:
    """Return an exception and the last frames of the package, in one line."""
    frames = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "collsim" in Path(frame.filename).parts
    ]
    return f"{type(error).__name__}: {str(error)[:160]!r} at {' '.join(frames[-3:])}"


def _cpu() -> float:
    found = os.times()
    return found.user + found.system


def _memory_now() -> int:
    # So that the peak is that of this case.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _memory_peak() -> int:
    return _status("VmHWM")


def _status(key: str) -> int:
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(rf"{key}:\s*(\d+)", text)
    return int(found[1]) * 1024 if found else 0


@contextlib.contextmanager
def _inside(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Run in a folder, with temporary files in it and more in the environment."""
    was, temporary, environ = os.getcwd(), tempfile.tempdir, dict(os.environ)
    os.chdir(folder)
    tempfile.tempdir = str(folder / "tmp")
    os.environ |= environment
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        os.chdir(was)
        tempfile.tempdir = temporary
        os.environ.clear()
        os.environ |= environ


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what takes too much CPU time, or six times as much by the clock."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow

    was = [(s, signal.signal(s, stop)) for s in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 12 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in was:
            signal.signal(number, handler)
