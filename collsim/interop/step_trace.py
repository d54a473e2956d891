"""A step of training as a trace for Perfetto and chrome://tracing."""

import json
import os
from typing import Any

from collsim.core.arguments import checked
from collsim.interop.chrome_trace.events_file import write_events
from collsim.workload.estimate import Estimate

__all__ = ["write_step_trace"]


@checked
def write_step_trace(found: Estimate, path: str | os.PathLike[str]) -> None:
    """Write what every stream of a step does, and when.

    A process per pipeline stage holds a thread per stream: what it computes, and each kind
    of group that sends. Slices say what is carried and how many bytes.

    Parameters
    ----------
    found : Estimate
        What :func:`collsim.estimate` returned.
    path : str or Path
        A name that ends in ``.json``, or in ``.json.gz`` to be packed.

    Raises
    ------
    InputError
        For another ending.
    FileError
        If the file can't be written; it is written whole or not at all.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from collsim.workload.estimate import estimate
    >>> found = estimate("examples/workloads/by_hand.toml")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "step.json")
    ...     write_step_trace(found, path)
    ...     json.loads(path.read_text())["displayTimeUnit"]
    'ms'
    """
    about = {"workload": found.workload, "cluster": found.cluster}
    write_events(path, "ms", about, map(_text, [*_names(found), *_slices(found)]))


def _text(event: dict[str, Any]) -> str:
    return json.dumps(event, allow_nan=False)


def _threads(found: Estimate) -> dict[tuple[int, str], int]:
    """Return the number of the thread of every stream that ever does something."""
    seen = sorted({(event.stage, event.stream) for event in found.events}, key=_order)
    return {key: number for number, key in enumerate(seen, found.pipeline + 1)}


def _order(key: tuple[int, str]) -> tuple[int, bool, str]:
    stage, stream = key
    return stage, stream != "compute", stream


def _names(found: Estimate) -> list[dict[str, Any]]:
    named = [
        {
            "ph": "M",
            "name": "process_name",
            "pid": stage + 1,
            "args": {"name": f"stage {stage}"},
        }
        for stage in range(found.pipeline)
    ]
    return named + [
        {
            "ph": "M", "name": "thread_name", "pid": stage + 1, "tid": tid,
            "args": {"name": stream},
        }
        for (stage, stream), tid in _threads(found).items()
    ]  # fmt: skip


def _slices(found: Estimate) -> list[dict[str, Any]]:
    threads = _threads(found)
    slices = []
    for event in found.events:
        # Whole nanoseconds at both ends, so that slices of a thread never overlap.
        start, end = (round(us * 1000) for us in (event.start_us, event.end_us))
        if start == end:
            # Nothing to see, and viewers would lay it inside of its neighbour.
            continue
        slices.append(
            {
                "ph": "X",
                "pid": event.stage + 1,
                "tid": threads[event.stage, event.stream],
                "name": event.name,
                "cat": event.collective or "compute",
                "ts": start / 1000,
                "dur": (end - start) / 1000,
                "args": {}
                if event.collective is None
                else {"collective": event.collective, "bytes": event.size},
            }
        )
    return slices
