"""How busy every link and port is over a run, for a picture of it."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.usage import Usage, usage
from collsim.errors import InputError

__all__ = ["LinkMap", "link_map"]

FloatArray = NDArray[np.float64]

_BINS: Final = 240
# Messages whose links are counted in reasonable time, one by one.
_MOST_MESSAGES: Final = 1_000_000
# Digits of a share of a link's bandwidth by which links are told apart.
_ALIKE: Final = 4


@dataclass(frozen=True, eq=False)
class LinkMap:
    """What :func:`plot_links` draws; a row stands for links that are used alike.

    Parameters
    ----------
    names : tuple of str
        The first link or port of each row, from the top: that of the most use first.
    members : tuple of tuple of str
        All of each row.
    capacity : float array, shape (R,)
        Bytes per second of one of them, over all its lanes.
    nbytes, busy : float array, shape (R,)
        Bytes that one carries, and seconds in which it carries some.
    edges : float array, shape (T + 1,)
        Seconds between which a cell lies.
    share : float array, shape (R, T)
        Mean rate in a cell over the capacity: 0 to 1.
    use : float array, shape (R,)
        The same over the whole run.
    idle, left_out : int
        Links and ports that carry nothing, and those that a row was not left for.
    """

    names: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    capacity: FloatArray
    nbytes: FloatArray
    busy: FloatArray
    edges: FloatArray
    share: FloatArray
    use: FloatArray
    idle: int
    left_out: int


@checked
def link_map(timeline: Timeline, cluster: Cluster, *, most: int = 40) -> LinkMap:
    """Return how busy links and ports are over time; those that are used alike share a row.

    Parameters
    ----------
    timeline : Timeline
        From :func:`collsim.simulate`.
    cluster : Cluster
        What it was simulated on.
    most : int
        Rows at most: the busiest.

    Returns
    -------
    LinkMap
        Names of the rows, and the share of every slice of time that each is in use.

    Raises
    ------
    InputError
        If nothing with a limited bandwidth carries any bytes, or there are more than a
        million messages.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> cluster = Cluster.ideal(4, "1us", "1GB/s")
    >>> found = link_map(simulate(build("broadcast", "mst", 4), cluster, 1000), cluster)
    >>> found.names, found.members[2], found.nbytes.round().tolist()
    (('egress[0]', 'egress[2]', 'ingress[1]', 'ingress[2]'), ('ingress[1]', 'ingress[3]'),
     [2000.0, 1000.0, 1000.0, 1000.0])
    """
    if len(timeline.schedule) > _MOST_MESSAGES:
        raise InputError(
            f"plot: {len(timeline.schedule)} messages, expected at most {_MOST_MESSAGES}: "
            "fewer ranks or chunks"
        )
    if most < 1:
        raise InputError(f"plot: got {most} links at most, expected 1 or more")
    used = usage(timeline, cluster)
    limited = np.isfinite(used.capacity)
    nbytes, busy = used.nbytes, used.busy
    shown = np.flatnonzero(limited & (nbytes > 0))
    if not shown.size or timeline.makespan <= 0:
        raise InputError(
            f"plot: no link or port of {cluster.name} carries any bytes, so there is nothing "
            "to draw"
        )
    edges = np.linspace(0.0, timeline.makespan, _BINS + 1)
    rows: dict[bytes, list[int]] = {}
    shares: dict[bytes, FloatArray] = {}
    for k in shown.tolist():
        share = _share(used, k, edges)
        # Of one kind, so that a row has one bandwidth.
        kind = used.names[k].partition("[")[0] if "[" in used.names[k] else used.names[k]
        same = np.round(share, _ALIKE).tobytes() + f"{used.capacity[k]:.6g} {kind}".encode()
        rows.setdefault(same, []).append(k)
        shares.setdefault(same, share)
    whole = nbytes / used.capacity / timeline.makespan

    def order(same: bytes) -> tuple[float, int]:
        first = rows[same][0]
        return -round(float(whole[first]), 9), first

    ranked = sorted(rows, key=order)
    kept = ranked[:most]
    first = [rows[same][0] for same in kept]
    return LinkMap(
        names=tuple(used.names[k] for k in first),
        members=tuple(tuple(used.names[k] for k in rows[same]) for same in kept),
        capacity=used.capacity[first],
        nbytes=nbytes[first],
        busy=busy[first],
        edges=edges,
        share=np.stack([shares[same] for same in kept]),
        use=whole[first],
        idle=int((limited & (nbytes <= 0)).sum()),
        left_out=sum(len(rows[same]) for same in ranked[most:]),
    )


def _share(used: Usage, k: int, edges: FloatArray) -> FloatArray:
    """Return the mean use of a link between edges, of its bandwidth."""
    rows = slice(int(used.ptr[k]), int(used.ptr[k + 1]))
    begin, end, rate = used.begin[rows], used.end[rows], used.rate[rows]
    times = np.stack([begin, end], axis=1).ravel()
    carried = np.concatenate([[0.0], np.cumsum((end - begin) * rate)])
    heights = np.stack([carried[:-1], carried[1:]], axis=1).ravel()
    mean = np.diff(np.interp(edges, times, heights)) / np.diff(edges)
    found: FloatArray = np.clip(mean / used.capacity[k], 0.0, 1.0)
    return found
