"""Ctrl-C or a request to end amid a command: an exception, where it is safe to raise one."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Any, Final

__all__ = ["TerminatedError", "exit_code", "interruptible", "terminable"]

_LOADING: Final = (
    ExtensionFileLoader.create_module.__code__,
    ExtensionFileLoader.exec_module.__code__,
)
_AGAIN: Final = 0.02  # seconds until it is seen whether a module is loaded by now
_PATIENCE: Final = 5.0  # seconds that a module may take
_TIDY: Final = 2.0  # seconds in which what was interrupted may undo what it has begun


class TerminatedError(KeyboardInterrupt):
    """Another signal than Ctrl-C asked the program to end.

    Parameters
    ----------
    number : int
        Of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


def exit_code(stop: KeyboardInterrupt) -> int:
    """Return 128 and the number of the signal, as shells report it.

    Examples
    --------
    >>> exit_code(KeyboardInterrupt()), exit_code(TerminatedError(signal.SIGTERM))
    (130, 143)
    """
    return 128 + (stop.number if isinstance(stop, TerminatedError) else signal.SIGINT)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, where it is safe to.

    While a module in C is loaded, the exception waits for its end: some would tell of it as
    something else (``ImportError: initialization failed``). A second Ctrl-C does not stop the
    undoing that the first one has begun. What is ignored, as behind `nohup`, stays so.
    """
    before = signal.getsignal(signal.SIGINT)
    if not _is_main() or not callable(before):
        yield
        return
    handler, unraisable = _Handler(), sys.unraisablehook

    def ignored(what: Any) -> None:
        # Raised where nobody can be told, as in a callback of the garbage collector.
        if issubclass(what.exc_type, KeyboardInterrupt):
            handler.again()
        else:
            unraisable(what)

    sys.unraisablehook = ignored
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    except KeyboardInterrupt:
        # Where it came through code that a library had as a string, CPython would end the
        # program by the signal, whatever its exit code; another string makes it forget.
        eval("None")  # noqa: S307
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        handler.close()
        sys.unraisablehook = unraisable


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise TerminatedError, where there are processes to be ended.

    Elsewhere they end the program on the spot, also amid a library that never comes back.
    """

    def stop(number: int, _: object) -> None:
        raise TerminatedError(number)

    both = (signal.SIGTERM, signal.SIGHUP)
    heard = [n for n in both if _is_main() and signal.getsignal(n) == signal.SIG_DFL]
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


class _Handler:
    """What happens at Ctrl-C."""

    def __init__(self) -> None:
        self._asked: float | None = None
        self._raised: float | None = None
        self._alarm: Any = None
        self._closed = False

    def __call__(self, _: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, now or a little later."""
        now = time.monotonic()
        if self._closed or (self._raised is not None and now < self._raised + _TIDY):
            return
        asked = now if self._asked is None else self._asked
        if now < asked + _PATIENCE and _loading(frame):
            self._asked = asked
            self.again()
            return
        self._asked, self._raised = None, now
        raise KeyboardInterrupt

    def again(self) -> None:
        """Come back soon."""
        self._raised = None
        before: Any = signal.signal(signal.SIGALRM, self)
        self._alarm = self._alarm if before is self else before
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)

    def close(self) -> None:
        """Come back no more."""
        self._closed = True
        if self._alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        # An alarm that is on its way needs somebody who hears it.
        if callable(self._alarm):
            signal.signal(signal.SIGALRM, self._alarm)


def _loading(frame: FrameType | None) -> bool:
    """Tell whether a module in C is being loaded."""
    while frame is not None:
        if frame.f_code in _LOADING:
            return True
        frame = frame.f_back
    return False
