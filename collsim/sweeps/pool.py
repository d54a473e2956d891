"""Points on the cores of this machine, their rows in the order of the grid."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Final

from collsim.engine.simulation import load
from collsim.sweeps.point import Point, Record, failed, run

__all__ = ["cores", "on_cores"]

# So many points per core are under way or done before their turn to be written.
_AHEAD: Final = 8
# Points from which the compiled loops repay loading them in every process.
_REPAID: Final = 8


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def on_cores(points: Sequence[Point], workers: int) -> Iterator[tuple[Point, list[Record]]]:
    """Yield points with their rows, in order.

    Parameters
    ----------
    points : sequence of Point
        What to run.
    workers : int
        Processes; with one, all is run in this one.

    Notes
    -----
    A process that is ended from outside, as when memory runs out, takes what it was running
    with it. The points that may have been the cause are then run one by one, each in a
    process of its own, and one that ends that too has this as its reason.
    """
    many = len(points) >= _REPAID
    if workers == 1:
        if many:
            _ready(True)
        for point in points:
            yield point, run(point)
        return
    at = 0
    while at < len(points):
        waiting: deque[tuple[Point, Future[list[Record]]]] = deque()
        with _processes(workers, many) as pool:
            try:
                for point in points[at:]:
                    waiting.append((point, _submit(pool, point)))
                    if len(waiting) == _AHEAD * workers:
                        yield waiting[0][0], waiting[0][1].result()
                        waiting.popleft()
                        at += 1
                while waiting:
                    yield waiting[0][0], waiting[0][1].result()
                    waiting.popleft()
                    at += 1
            except BrokenProcessPool:
                pass
        for point, future in waiting:
            yield point, _again(point, future, many)
            at += 1


def _again(point: Point, future: "Future[list[Record]]", many: bool) -> list[Record]:
    """Return the rows of a point that was under way when a process was ended."""
    if future.done() and not future.cancelled() and future.exception() is None:
        return future.result()
    try:
        with _processes(1, many) as pool:
            return _submit(pool, point).result()
    except BrokenProcessPool:
        return failed(point, "the process that ran it was ended, as when memory runs out")


def _submit(pool: ProcessPoolExecutor, point: Point) -> "Future[list[Record]]":
    """Hand a point to a pool, which may start a process for it.

    A process that starts has SIGINT blocked, as this one has meanwhile: Ctrl-C, which a
    terminal sends to all, would be a traceback of a process that is not ready yet.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(run, point)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _processes:  # noqa: N801 - used like a function
    """A pool whose processes end with it, and with this process, whatever they are doing."""

    def __init__(self, workers: int, many: bool) -> None:
        # A process made by fork would share locks that another thread may hold.
        context = multiprocessing.get_context("spawn")
        self._before = set(multiprocessing.active_children())
        self._pool = ProcessPoolExecutor(workers, context, _begin, (many,))

    def __enter__(self) -> ProcessPoolExecutor:
        return self._pool

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for process in set(multiprocessing.active_children()) - self._before:
                process.terminate()
        self._pool.shutdown(cancel_futures=True)


def _begin(many: bool) -> None:
    """Make a new process ready: Ctrl-C is for the first one, whose end is everybody's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _ready(many)


def _ready(many: bool) -> None:
    if many:
        load(fair_sharing=True)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    with suppress(OSError):
        if parent is not None:
            parent.join()
            os._exit(1)
