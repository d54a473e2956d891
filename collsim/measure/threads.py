"""All ranks in this process, a thread for each: how nccl4py is run."""

import os
import threading
from collections.abc import Callable
from typing import Any

from collsim.errors import CollsimError, MeasureError
from collsim.measure.job import Job
from collsim.measure.run import measure
from collsim.measure.watch import EXIT_HUNG, Watch
from collsim.registry import member

__all__ = ["in_threads"]


def in_threads(job: Job, ranks: int | None, hung: Callable[[str], None]) -> None:
    """Run a job with one thread per rank.

    Parameters
    ----------
    job : Job
        What to measure.
    ranks : int, optional
        How many; None: all that the GPUs take.
    hung : callable
        Gets the watchdog's message before the process ends.
    """
    connect = member("collsim.measure.backends", job.backend, "connect_all", "backend")
    made = connect(ranks, job.timeout, bool(job.graph), job.ranks_per_gpu)  # type: ignore[operator]
    failures: list[BaseException] = []

    def run(make: Any) -> None:
        watch = Watch(job.timeout, hung, lambda: os._exit(EXIT_HUNG))
        try:
            transport = make()
            measure(job, transport, transport.ranks, watch)
            transport.close()
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            failures.append(error)
        finally:
            watch.stop()

    threads = [threading.Thread(target=run, args=(make,), daemon=True) for make in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        # Those who waited for the one that failed first say only that it did not come.
        told = [e for e in failures if isinstance(e, CollsimError)]
        told.sort(key=lambda error: isinstance(error, MeasureError))
        first = told[0] if told else failures[0]
        if isinstance(first, CollsimError):
            raise first
        raise MeasureError(f"{type(first).__name__}: {first}") from first
