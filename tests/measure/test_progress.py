"""What a reader sees while it takes its time, and the end of what hangs."""

from __future__ import annotations

import io

import pytest

from collsim.measure.progress import Progress
from collsim.measure.watch import Watch


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say yes."""
        return True


def test_a_bar_with_what_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of four points took 10 s, so two more do."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stream = Terminal()
    bar = Progress(4, 0, stream)
    for _ in range(2):
        bar.advance()
    now[0] = 10.0
    bar.show("all_reduce/mst, 1KiB")
    assert "[############------------] 2/4, about 10s left: all_reduce" in stream.getvalue()


def test_elsewhere_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of a job is not filled with bars, and what was there before is no pace."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stream = io.StringIO()
    bar = Progress(100, 50, stream)
    for _ in range(30):
        bar.show("x")
        bar.advance()
        now[0] += 1.0
    assert stream.getvalue().splitlines() == [
        "60 of 100 measured, about 40s left: x",
        "70 of 100 measured, about 30s left: x",
    ]


def test_a_stream_that_is_gone_is_no_failure() -> None:
    """The rows matter, not the bar."""
    stream = Terminal()
    bar = Progress(1, 0, stream)
    stream.close()
    bar.show("x")
    bar.finish()


def test_a_watchdog_that_is_fed_stays_quiet() -> None:
    """And one that is stopped too."""
    heard: list[str] = []
    watch = Watch(0.2, heard.append, lambda: None)
    for _ in range(5):
        watch.alive()
    watch.stop()
    assert heard == []


def test_where_stderr_was_closed_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing fails."""
    monkeypatch.setattr("sys.stderr", None)
    progress = Progress(2)
    progress.note("a")
    progress.advance()
    progress.finish()
    assert progress.done == 1
