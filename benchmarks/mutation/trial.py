"""Try mutants in one copy of the tree: a process that has loaded the libraries forks for each.

Started as ``python trial.py TREE SCRATCH``; reads one trial a line as JSON from stdin, answers
one a line on stdout. The mutated file lies on disk, as it would if somebody had written it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

# What the tests of these rooms import besides collsim: loaded once, not for each mutant.
_LOADED: Final = (
    "click", "hypothesis", "hypothesis.strategies", "numba", "numpy", "numpy.testing",
    "scipy.interpolate", "scipy.optimize", "scipy.stats", "tomli_w", "_pytest.doctest",
)  # fmt: skip
# Of address space: a mutant that fills memory fails instead of the machine.
_MEMORY: Final = 4 << 30
# CPU seconds that a test may take, as a multiple of what it took and at least; the same when
# all are collected.
_TIMES, _LEAST, _COLLECTING = 10.0, 5.0, 60.0


class Watch:
    """A plugin of pytest: chosen tests in order, each with a time limit; tells what fails."""

    def __init__(self, seconds: dict[str, float], answer: int) -> None:
        self.seconds = seconds
        self.order = {name: place for place, name in enumerate(seconds)}
        self.answer = answer
        self.ran = 0

    def tell(self, **what: object) -> None:
        """Say something to whoever waits for this process."""
        os.write(self.answer, (json.dumps(what) + "\n").encode())

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that reach the mutant, the quickest first."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        found = {item.nodeid: item for item in items if item.nodeid in self.order}
        items[:] = [found[name] for name in self.order if name in found]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Let the system end a test that runs on and on, wherever it hangs."""
        limit = max(_LEAST, _TIMES * self.seconds[item.nodeid])
        self.tell(running=item.nodeid)
        self.ran += 1
        signal.setitimer(signal.ITIMER_PROF, limit)
        done = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell which test failed."""
        if report.failed:
            self.tell(failed=report.nodeid, why=_last_line(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell which file could not even be imported."""
        if report.failed:
            self.tell(failed=report.nodeid, why=_last_line(report), importing=True)


def _last_line(report: pytest.TestReport | pytest.CollectReport) -> str:
    lines = [line for line in str(report.longrepr).splitlines() if line.startswith("E ")]
    return lines[0][1:].strip()[:200] if lines else str(report.longrepr)[-200:]


def _child(tree: Path, scratch: Path, watch: Watch, stop: bool) -> None:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, _COLLECTING)
    sys.dont_write_bytecode = True
    os.chdir(tree)
    files = dict.fromkeys(name.split("::")[0] for name in watch.seconds)
    options = [
        "-q", "-o", "addopts=", "--strict-config", "--strict-markers", "--doctest-modules",
        "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist",
        f"--basetemp={scratch}", "--tb=short",
        "-W", "ignore::pytest.PytestAssertRewriteWarning",
    ]  # fmt: skip
    code = pytest.main([*options, *(["-x"] if stop else []), *files], plugins=[watch])
    watch.tell(ended=int(code), ran=watch.ran)


def attempt(
    tree: Path, scratch: Path, seconds: dict[str, float], wall: float, stop: bool = True
) -> dict[str, Any]:
    """Run tests on the tree as it lies there, in a process of its own.

    Returns
    -------
    dict
        `outcome`: survived, killed, or hung; `by`: the test that saw it; `why`: its message;
        `ran`: tests run; `failed`: all that failed.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            _child(tree, scratch, Watch(seconds, writing), stop)
        except BaseException as error:  # noqa: BLE001 - told, not lost
            Watch({}, writing).tell(broken=repr(error))
        os._exit(0)
    os.close(writing)
    told, ended_by_wall = _listen(reading, time.monotonic() + wall)
    if ended_by_wall:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return _verdict(told, status, ended_by_wall) | {"cpu": used.ru_utime + used.ru_stime}


def _listen(pipe: int, until: float) -> tuple[list[dict[str, Any]], bool]:
    text = b""
    while (left := until - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            break
        if not (more := os.read(pipe, 1 << 16)):
            os.close(pipe)
            return [json.loads(line) for line in text.splitlines()], False
        text += more
        # Whatever it started may keep the pipe open: the last word counts.
        if b'"ended"' in more:
            os.close(pipe)
            return [json.loads(line) for line in text.splitlines()], False
    os.close(pipe)
    return [json.loads(line) for line in text.splitlines()], True


def _verdict(told: list[dict[str, Any]], status: int, by_wall: bool) -> dict[str, Any]:
    failed = [line for line in told if "failed" in line]
    running = [line["running"] for line in told if "running" in line]
    ended = next((line for line in told if "ended" in line), None)
    answer: dict[str, Any] = {"ran": len(running)}
    answer["failed"] = [line["failed"] for line in failed]
    if broken := [line["broken"] for line in told if "broken" in line]:
        raise RuntimeError(f"trials do not work: {broken[0]}")
    if failed:
        first = failed[0]
        how = "import" if first.get("importing") else "killed"
        return answer | {"outcome": how, "by": first["failed"], "why": first["why"]}
    by = running[-1] if running else "collection"
    if by_wall or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF):
        return answer | {"outcome": "hung", "by": by, "why": "time is up"}
    if ended is None:
        return answer | {"outcome": "killed", "by": by, "why": f"process ended, {status}"}
    # 5: no test is left, which nobody would notice.
    if ended["ended"] in {0, 5}:
        return answer | {"outcome": "survived"}
    # 4: already a conftest could not be imported.
    return answer | {"outcome": "import", "by": by, "why": f"pytest ended: {ended['ended']}"}


def main() -> None:
    """Answer until stdin ends."""
    tree, scratch = (Path(given).resolve() for given in sys.argv[1:])
    for name in _LOADED:
        importlib.import_module(name)
    if found := [name for name in sys.modules if name.split(".")[0] == "collsim"]:
        raise RuntimeError(f"loaded before it is mutated: {found}")
    for line in sys.stdin:
        print(json.dumps(attempt(tree, scratch, **json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
