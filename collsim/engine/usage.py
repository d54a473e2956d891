"""How much every link and port carries at every time.

Under fair sharing these are the rates at which the messages flow. Under fifo a message
holds each link of its way for B + m·beta of that link; its m bytes are counted as passing
in the last m·beta of that time, at the link's own bandwidth, so that a lane that is held
once is never counted as carrying more than it can.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.fair import FairLoop
from collsim.engine.lower import lower
from collsim.engine.simulation import Simulation

__all__ = ["Usage", "usage"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_SLIVER: Final = 1e-13


@dataclass(frozen=True, eq=False)
class Usage:
    """Use of every link, then of every egress port, then of every ingress port.

    Parameters
    ----------
    names : tuple of str
        Of the links; ports are ``"egress[r]"`` and ``"ingress[r]"``.
    capacity : float array, shape (K,)
        Bytes per second over all lanes; infinite where there is no limit.
    ptr : int array, shape (K + 1,)
        Rows of link or port k: ``ptr[k]`` up to ``ptr[k + 1]``.
    begin, end, rate : float array
        Of every row: from when to when, in seconds, how many bytes per second. Times at
        which nothing flows are left out.
    """

    names: tuple[str, ...]
    capacity: FloatArray
    ptr: IntArray
    begin: FloatArray
    end: FloatArray
    rate: FloatArray

    def of(self, name: str) -> list[tuple[float, float, float]]:
        """Return from when to when a link or port carries how many bytes per second."""
        k = self.names.index(name)
        rows = slice(int(self.ptr[k]), int(self.ptr[k + 1]))
        columns = (self.begin[rows], self.end[rows], self.rate[rows])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _sums(self, values: FloatArray) -> FloatArray:
        sums = np.zeros(len(self.names))
        np.add.at(sums, np.repeat(np.arange(sums.size), np.diff(self.ptr)), values)
        return sums

    @property
    def nbytes(self) -> FloatArray:
        """Bytes that each carries in all."""
        return self._sums((self.end - self.begin) * self.rate)

    @property
    def busy(self) -> FloatArray:
        """Seconds in which each carries something."""
        return self._sums(self.end - self.begin)

    @property
    def peak(self) -> FloatArray:
        """Most bytes per second that each carries at any time."""
        peak = np.zeros(len(self.names))
        np.maximum.at(peak, np.repeat(np.arange(peak.size), np.diff(self.ptr)), self.rate)
        return peak


def usage(timeline: Timeline, cluster: Cluster) -> Usage:
    """Return the use of every link and port of the cluster that a timeline was made on.

    Parameters
    ----------
    timeline : Timeline
        What :func:`collsim.engine.simulate.simulate` returned.
    cluster : Cluster
        The same cluster.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> cluster = Cluster.ideal(2, alpha=1.0, bandwidth=2.0)
    >>> timeline = simulate(build("broadcast", "mst", 2), cluster, 4)
    >>> usage(timeline, cluster).of("egress[0]")
    [(1.0, 3.0, 2.0)]
    """
    names, beta, lanes, ptr, crossed = _ways(timeline, cluster)
    limited = np.flatnonzero((lanes > 0) & (beta > 0))
    capacity = np.full(len(names), np.inf)
    capacity[limited] = lanes[limited] / beta[limited]
    if cluster.sharing == "fair":
        op, time, change, active = _flows(timeline, cluster)
        counts = np.diff(ptr)[op]
        row = np.repeat(ptr[:-1][op], counts) + _within(counts)
        where, when = crossed[row], np.repeat(time, counts)
        delta, flows = np.repeat(change, counts), np.repeat(active, counts)
    else:
        where, when, delta, flows = _bursts(timeline, cluster, beta, ptr, crossed)
    order = np.lexsort((when, where))
    where, when, delta, flows = where[order], when[order], delta[order], flows[order]
    # Sums start anew with every link, and whole numbers say when they are back at nothing.
    first = np.searchsorted(where, np.arange(len(names)))
    rate = _running(delta, first, where)
    under_way = _running(flows, first, where)
    # What is shorter is not a time at which two overlap, but the rounding of one.
    lasts = np.diff(when, append=np.inf) > _SLIVER * timeline.makespan
    if where.size:
        lasts[:-1] &= where[:-1] == where[1:]
        lasts[-1] = False
    kept = np.flatnonzero(lasts & (under_way > 0))
    rows = np.zeros(len(names) + 1, dtype=np.int64)
    np.cumsum(np.bincount(where[kept], minlength=len(names)), out=rows[1:])
    return Usage(names, capacity, rows, when[kept], when[kept + 1], rate[kept])


def _ways(
    timeline: Timeline, cluster: Cluster
) -> tuple[tuple[str, ...], FloatArray, IntArray, IntArray, IntArray]:
    """Return names, betas and lanes of links and ports, and what each operation crosses."""
    schedule, links, ranks = timeline.schedule, cluster.links, cluster.ranks
    names, beta, lanes = [*links.names], [links.beta], [links.lanes]
    ports = []
    for label, port, end in (
        ("egress", cluster.egress, schedule.src),
        ("ingress", cluster.ingress, schedule.dst),
    ):
        if port is not None:
            ports.append(np.where(end < ranks, len(names) + end.astype(np.int64), -1))
            names += [f"{label}[{r}]" for r in range(ranks)]
            beta.append(np.full(ranks, port.beta))
            lanes.append(np.full(ranks, port.lanes))
    crossed = []
    for o in range(len(schedule)):
        route = cluster.route(int(schedule.src[o]), int(schedule.dst[o]))
        away = schedule.src[o] != schedule.dst[o]
        crossed.append([*route, *(int(port[o]) for port in ports if away and port[o] >= 0)])
    ptr = np.cumsum([0, *map(len, crossed)], dtype=np.int64)
    flat = np.array([way for ways in crossed for way in ways], dtype=np.int64)
    return tuple(names), np.concatenate(beta), np.concatenate(lanes), ptr, flat


def _flows(
    timeline: Timeline, cluster: Cluster
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return changes of messages' rates, and of whether they flow: 1 begins, -1 ends."""
    loop = Simulation(timeline.schedule, cluster).loop
    if not isinstance(loop, FairLoop):
        raise TypeError("only under fair sharing do messages have rates")
    op, time, rate = loop.logged(timeline.nbytes)
    order = np.argsort(op, kind="stable")
    op, time = op[order], time[order] + cluster.launch
    rate = rate[order] * timeline.schedule.piece_share * timeline.nbytes
    rate /= _slow(timeline, cluster)[op]
    before = np.where(np.diff(op, prepend=-1) == 0, np.roll(rate, 1), 0.0)
    flowing = (rate > 0).astype(np.int64) - (before > 0)
    return op, time, rate - before, flowing


def _slow(timeline: Timeline, cluster: Cluster) -> FloatArray:
    """Return what a byte of each operation counts for on its links: more than 1 in a switch."""
    slow = np.ones(len(timeline.schedule))
    if cluster.in_switch is not None:
        ends = np.maximum(timeline.schedule.src, timeline.schedule.dst)
        slow[ends >= cluster.ranks] /= cluster.in_switch.efficiency
    return slow


def _bursts(
    timeline: Timeline, cluster: Cluster, beta: FloatArray, ptr: IntArray, crossed: IntArray
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return, under fifo, where and when what begins and ends to pass."""
    counts = np.diff(ptr)
    plan = lower(timeline.schedule, cluster).at(timeline.nbytes)
    size = timeline.schedule.fraction * timeline.nbytes
    begin = np.repeat(timeline.start + plan.busy[plan.route], counts)
    slower = beta[crossed] * np.repeat(_slow(timeline, cluster), counts)
    lasts = np.repeat(size, counts) * slower
    some = np.flatnonzero(lasts > 0)
    where, begin, end = crossed[some], begin[some], (begin + lasts)[some]
    rate = 1 / slower[some]
    ones = np.ones(some.size, dtype=np.int64)
    return (
        np.concatenate([where, where]),
        np.concatenate([begin, end]),
        np.concatenate([rate, -rate]),
        np.concatenate([ones, -ones]),
    )


def _within(counts: IntArray) -> IntArray:
    """Return 0, 1, ... anew for every count."""
    ends = np.cumsum(counts)
    return np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)


def _running(values: NDArray[Any], first: IntArray, where: IntArray) -> NDArray[Any]:
    total = np.concatenate([[0], np.cumsum(values)])
    since: NDArray[Any] = total[1:] - total[first][where]
    return since
