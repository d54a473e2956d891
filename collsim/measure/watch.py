"""A watchdog: what hangs is ended, and named."""

import os
import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["EXIT_HUNG", "Watch"]

EXIT_HUNG: Final = 71


class Watch:
    """Ends this process when nothing has come to an end for too long.

    A call into a communication library that hangs cannot be interrupted from Python; only
    another thread is left to say so.

    Parameters
    ----------
    timeout : float
        Seconds.
    tell : callable
        Gets the message before the process ends.
    leave : callable
        Ends the process.

    Examples
    --------
    >>> heard = []
    >>> watch = Watch(0.01, heard.append, lambda: None)
    >>> watch.at("all_reduce, 1KiB, rank 0")
    >>> watch.join()
    >>> heard
    ['all_reduce, 1KiB, rank 0: nothing for 0.01 s; ended']
    """

    def __init__(
        self,
        timeout: float,
        tell: Callable[[str], None],
        leave: Callable[[], None] = lambda: os._exit(EXIT_HUNG),
    ) -> None:
        self.timeout, self._tell, self._leave = timeout, tell, leave
        self.label = "start"
        self._since = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def at(self, label: str) -> None:
        """Say what begins now."""
        self.label = label
        self.alive()

    def alive(self) -> None:
        """Say that something has come to an end."""
        self._since = time.monotonic()

    def stop(self) -> None:
        """Watch no longer."""
        self._done.set()
        self.join()

    def join(self) -> None:
        """Wait for the watchdog's end."""
        self._thread.join()

    def _run(self) -> None:
        while True:
            left = self._since + self.timeout - time.monotonic()
            if left <= 0:
                self._tell(f"{self.label}: nothing for {self.timeout:g} s; ended")
                self._leave()
                return
            if self._done.wait(left):
                return
