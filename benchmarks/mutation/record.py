"""Which test runs which lines, and how long it takes: what each mutant is tried by.

Started as a program of its own, with compilation off, so that compiled functions count too:

    NUMBA_DISABLE_JIT=1 python record.py OUT.json SOURCE... -- TEST...
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import pytest
from rooms import LONGEST


class Recorder:
    """A plugin of pytest that gives the lines that a test runs its name."""

    def __init__(self, lines: coverage.Coverage) -> None:
        self.lines = lines
        self.seconds: dict[str, float] = {}
        self.passed: dict[str, bool] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Time the test, with what it sets up."""
        self.lines.switch_context(item.nodeid)
        before = time.process_time()
        done = yield
        self.seconds[item.nodeid] = time.process_time() - before
        self.lines.switch_context("")
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        """Stop a test that takes too long."""
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            return (yield)
        except TooLong:
            # Its traceback may be of a frame that has no line, which pytest does not know.
            pass
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        pytest.skip("too long to try mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember who passed: whoever skips or fails says nothing of a mutant."""
        if report.when == "call" or report.outcome != "passed":
            kept = self.passed.get(report.nodeid, True)
            self.passed[report.nodeid] = kept and report.outcome == "passed"


class TooLong(BaseException):
    """A test runs longer than any that tries mutants may."""


def _stop(*_: object) -> None:
    raise TooLong


def record(sources: list[str], tests: list[str]) -> dict[str, Any]:
    """Run the tests once.

    Returns
    -------
    dict
        `tests`: for each test that passed its CPU seconds. `lines`: for each file and line the
        tests that run it, with "" for lines that run when the file is imported.
    """
    signal.signal(signal.SIGPROF, _stop)
    lines = coverage.Coverage(data_file=None, source=sources, config_file=False)
    recorder = Recorder(lines)
    lines.start()
    pytest.main(
        ["-q", "-n", "0", "--durations=20", "-p", "no:cacheprovider", *tests],
        plugins=[recorder],
    )
    lines.stop()
    data = lines.get_data()
    usable = {name for name, passed in recorder.passed.items() if passed}
    here = Path.cwd()
    found = {}
    for file in sorted(data.measured_files()):
        by_line = data.contexts_by_lineno(file)
        found[str(Path(file).relative_to(here))] = {
            line: sorted(name for name in names if name in usable or not name)
            for line, names in sorted(by_line.items())
        }
    return {
        "tests": {name: recorder.seconds[name] for name in sorted(usable)},
        "left_out": sorted(set(recorder.seconds) - usable),
        "lines": found,
    }


def main() -> None:
    """Write what was recorded."""
    out, *rest = sys.argv[1:]
    cut = rest.index("--")
    Path(out).write_text(json.dumps(record(rest[:cut], rest[cut + 1 :])), encoding="utf-8")


if __name__ == "__main__":
    main()
