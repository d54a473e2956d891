"""Points on a Dask cluster, their rows in the order of the grid."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from collsim.errors import InputError, MissingExtraError
from collsim.sweeps.point import Point, Record, failed, run

__all__ = ["on_dask"]

# So many points per thread of its workers are under way or done before their turn.
_AHEAD: Final = 8
# Seconds to wait for a scheduler, and for a worker of it.
_PATIENCE: Final = 30


def on_dask(points: Sequence[Point], scheduler: str) -> Iterator[tuple[Point, list[Record]]]:
    """Yield points with their rows, in order, run by the workers of a Dask cluster.

    Parameters
    ----------
    points : sequence of Point
        What to run. Cluster files have to lie at the same place on all machines.
    scheduler : str
        Its address, such as ``"tcp://127.0.0.1:8786"``.

    Raises
    ------
    MissingExtraError
        If Dask is not installed: ``pip install 'collsim[dask]'``.
    InputError
        If nobody answers there, or the scheduler has no worker.
    """
    with _client(scheduler) as client:
        threads = max(1, sum(client.nthreads().values()))
        waiting: deque[tuple[Point, Any]] = deque()
        try:
            for point in points:
                key = f"collsim-{point.sweep}-{point.number}"
                waiting.append((point, client.submit(run, point, key=key, retries=1)))
                if len(waiting) == _AHEAD * threads:
                    yield _first(waiting)
            while waiting:
                yield _first(waiting)
        finally:
            client.cancel([future for _, future in waiting])


def _client(scheduler: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("distributed", "dask") from None
    try:
        client = distributed.Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"scheduler: no answer from {scheduler!r}: {error}") from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        client.close()
        raise InputError(
            f"scheduler: {scheduler!r} has had no worker for {_PATIENCE} s, expected one"
        ) from None
    return client


def _first(waiting: "deque[tuple[Point, Any]]") -> tuple[Point, list[Record]]:
    from distributed import CancelledError, KilledWorker

    point, future = waiting[0]
    try:
        rows: list[Record] = future.result()
    except (KilledWorker, CancelledError) as error:
        rows = failed(point, f"the worker that ran it was ended: {error}")
    waiting.popleft()
    return point, rows
