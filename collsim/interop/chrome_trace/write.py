"""Write a timeline as a trace, event by event."""

import os
from collections.abc import Iterator

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.together import Together
from collsim.errors import InputError
from collsim.interop.chrome_trace._calls import call_events
from collsim.interop.chrome_trace._counters import counter_events
from collsim.interop.chrome_trace._event import NODES
from collsim.interop.chrome_trace._ranks import rank_events
from collsim.interop.chrome_trace._sent import Sent
from collsim.interop.chrome_trace.events_file import check_trace_path, write_events

__all__ = ["check_trace_path", "write_trace"]


@checked
def write_trace(
    outcome: Timeline | Together, cluster: Cluster, path: str | os.PathLike[str]
) -> None:
    """Write a simulation as a trace for https://ui.perfetto.dev or chrome://tracing.

    A process per node holds threads per rank, for what it sends and what it receives: a
    message is a slice at both, joined by an arrow, with its bytes, round, chunks and the
    parts of its time. Counters say what flows over every link and port that has a limit.
    Times are rounded to nanoseconds.

    Parameters
    ----------
    outcome : Timeline or Together
        What :func:`collsim.simulate` returned.
    cluster : Cluster
        The same cluster.
    path : str or Path
        A name that ends in ``.json``, or in ``.json.gz`` to be packed. The same simulation
        gives the same bytes.

    Raises
    ------
    InputError
        For another ending, or a cluster of another size.
    FileError
        If the file can't be written; it is written whole or not at all.

    Notes
    -----
    Events are written as they are made; no list of all is held.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> import collsim
    >>> cluster = Cluster.ideal(4, alpha="10us", bandwidth="900GB/s")
    >>> timeline = collsim.simulate(collsim.build("broadcast", "mst", 4), cluster, 1024)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.json")
    ...     write_trace(timeline, cluster, path)
    ...     events = json.loads(path.read_text())["traceEvents"]
    >>> sum(event["ph"] == "s" for event in events)
    3
    """
    check_trace_path(path)
    _check(outcome, cluster)
    about = {"cluster": cluster.name, "shape": cluster.shape, "sharing": cluster.sharing}
    write_events(path, "ns", about, _events(outcome, cluster))


def _check(outcome: Timeline | Together, cluster: Cluster) -> None:
    if not isinstance(outcome, Timeline | Together):
        raise InputError(f"trace: got {outcome!r}, expected what simulate returned")
    most = (
        outcome.schedule.ranks
        if isinstance(outcome, Timeline)
        else 1 + max(max(job.ranks) for job in outcome.jobs)
    )
    if most > cluster.ranks or (isinstance(outcome, Timeline) and most != cluster.ranks):
        raise InputError(
            f"trace: of {most} ranks, but cluster {cluster.name!r} has {cluster.ranks}"
        )


def _events(outcome: Timeline | Together, cluster: Cluster) -> Iterator[str]:
    sent = Sent(outcome, cluster)
    # A thread whose number is that of its process would count as the main one.
    thread = NODES + cluster.nodes + 1
    yield from call_events(sent.calls, cluster, thread)
    yield from rank_events(sent, cluster, thread + 2 * len(sent.calls))
    yield from counter_events(outcome, cluster)
