"""How far a run of measurements is, and how long it will still take."""

import sys
import time
from typing import Final, TextIO

from collsim.units import format_time

__all__ = ["Progress", "remaining"]

_WIDTH: Final = 24
_PAUSE: Final = 10.0  # seconds between lines where there is no terminal


class Progress:
    """A bar on a terminal; elsewhere a line now and then.

    Parameters
    ----------
    total : int
        Points to measure.
    done : int
        How many of them are done already.
    stream : text file, optional
        Where to write; by default stderr, or nowhere if that was closed.
    """

    def __init__(self, total: int, done: int = 0, stream: TextIO | None = None) -> None:
        self.total, self.done, self._before = total, done, done
        self._stream = sys.stderr if stream is None else stream
        self._start = self._last = time.monotonic()
        self._bar = bool(getattr(self._stream, "isatty", lambda: False)())

    def show(self, label: str) -> None:
        """Say what is being measured."""
        now = time.monotonic()
        if not self._bar and now - self._last < _PAUSE:
            return
        self._last = now
        left = remaining(self.done - self._before, self.total - self.done, now - self._start)
        rest = "" if left is None else f", about {_spelled(left)} left"
        if not self._bar:
            self._write(f"{self.done} of {self.total} measured{rest}: {label}\n")
            return
        full = _WIDTH * self.done // max(1, self.total)
        bar = "#" * full + "-" * (_WIDTH - full)
        self._write(f"\r\x1b[K[{bar}] {self.done}/{self.total}{rest}: {label}"[:118])

    def note(self, text: str) -> None:
        """Print a line beside the bar."""
        self._write(("\r\x1b[K" if self._bar else "") + f"note: {text}\n")

    def advance(self) -> None:
        """Count one more."""
        self.done += 1

    def finish(self) -> None:
        """Take the bar away."""
        if self._bar:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._bar = False


def remaining(done: int, left: int, elapsed: float) -> float | None:
    """Return the seconds that the rest takes at the pace so far; None without one.

    Examples
    --------
    >>> remaining(10, 5, 20.0), remaining(0, 5, 1.0)
    (10.0, None)
    """
    return elapsed / done * left if done else None


def _spelled(seconds: float) -> str:
    if seconds < 90:
        return format_time(float(round(seconds)))
    return f"{seconds / 60:.0f} min"
