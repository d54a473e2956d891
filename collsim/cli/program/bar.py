"""A progress bar on the terminal of stderr; nothing where there is none."""

import sys
import time
from typing import Final

import click

from collsim.measure.progress import remaining

__all__ = ["Bar"]

_WIDTH: Final = 24
_LINE: Final = 118
# Seconds between two drawings: a terminal is slower than a point of a grid.
_PAUSE: Final = 0.1


class Bar:
    """How many of some points are done, and how long the rest will take.

    Parameters
    ----------
    total : int
        Points.
    """

    def __init__(self, total: int) -> None:
        self.total, self.done, self._before = total, 0, 0
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._start, self._last = time.monotonic(), -_PAUSE

    def begin(self, done: int) -> None:
        """Say how many were done before."""
        self.done = self._before = done
        self.show("")

    def advance(self, label: str) -> None:
        """Count one more, and say what it was."""
        self.done += 1
        self.show(label)

    def show(self, label: str) -> None:
        """Draw it."""
        now = time.monotonic()
        if not self._shown or now - self._last < _PAUSE:
            return
        self._last = now
        left = remaining(self.done - self._before, self.total - self.done, now - self._start)
        rest = "" if left is None else f", about {_spelled(left)} left"
        full = _WIDTH * self.done // max(1, self.total)
        bar = "#" * full + "-" * (_WIDTH - full)
        line = f"[{bar}] {self.done}/{self.total}{rest}  {label}"[:_LINE]
        click.echo(f"\r\x1b[K{line}", nl=False, err=True)

    def finish(self) -> None:
        """Take it away."""
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _spelled(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
