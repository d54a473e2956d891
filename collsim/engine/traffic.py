"""What flows over every link and port, one after the other.

Under fair sharing these are the rates at which the messages flow. Under fifo a message
holds each link of its way for B + m·beta of that link; its m bytes are counted as passing
in the last m·beta of that time, at the link's own bandwidth, so that a lane that is held
once is never counted as carrying more than it can.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.fair import FairLoop
from collsim.engine.lower import lower_program
from collsim.engine.program import Program, merged, single
from collsim.engine.simulation import large
from collsim.engine.together import Together
from collsim.engine.ways import Messages, Ways, messages, parties, pointers, ways

__all__ = ["Traffic", "traffic"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# What is shorter, as a part of the whole, is not a time at which two overlap, but the
# rounding of one.
_SLIVER: Final = 1e-13


@dataclass(frozen=True, eq=False)
class Traffic:
    """What flows over one link or port.

    Parameters
    ----------
    name : str
        Of the link; ports are ``"egress[r]"`` and ``"ingress[r]"``.
    capacity : float
        Bytes per second over all lanes; infinite where there is no limit.
    begin, end, rate : float array
        From when to when, in seconds, how many bytes per second. Times at which nothing
        flows are left out.
    """

    name: str
    capacity: float
    begin: FloatArray
    end: FloatArray
    rate: FloatArray


def traffic(outcome: Timeline | Together, cluster: Cluster) -> Iterator[Traffic]:
    """Yield the use of every link and port of the cluster that a simulation was made on.

    Links come first, in their order, then egress ports, then ingress ports. What is held
    at a time is a few arrays of a number per message, and one link's use.

    Parameters
    ----------
    outcome : Timeline or Together
        What :func:`collsim.engine.simulate.simulate` returned.
    cluster : Cluster
        The same cluster.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> cluster = Cluster.ideal(2, alpha=1.0, bandwidth=2.0)
    >>> timeline = simulate(build("broadcast", "mst", 2), cluster, 4)
    >>> [(one.name, one.begin.tolist()) for one in traffic(timeline, cluster)][1:3]
    [('egress[0]', [1.0]), ('egress[1]', [])]
    """
    sent = messages(outcome, cluster)
    way = ways(sent, cluster)
    limited = np.flatnonzero((way.lanes > 0) & (way.beta > 0))
    capacity = np.full(len(way.names), np.inf)
    capacity[limited] = way.lanes[limited] / way.beta[limited]
    # Of every link, the pairs that cross it; of every pair, its changes of rate.
    owner = np.repeat(np.arange(way.ptr.size - 1), np.diff(way.ptr))
    by_link = np.argsort(way.crossed, kind="stable")
    link_ptr = pointers(way.crossed, len(way.names))
    fair = cluster.sharing == "fair"
    op, time, change, active = _flows(outcome, cluster, way) if fair else _nothing()
    pair = way.pair[op] if fair else way.pair
    by_pair = np.argsort(pair, kind="stable")
    pair_ptr = pointers(pair, way.ptr.size - 1)
    sliver = _SLIVER * outcome.makespan
    for k, name in enumerate(way.names):
        pairs = owner[by_link[link_ptr[k] : link_ptr[k + 1]]]
        rows = _rows(by_pair, pair_ptr, pairs)
        if fair:
            flow = time[rows], change[rows], active[rows]
        else:
            flow = _bursts(sent, way, rows, float(way.beta[k]))
        yield Traffic(name, float(capacity[k]), *_levels(*flow, sliver))


def _rows(order: IntArray, ptr: IntArray, pairs: IntArray) -> IntArray:
    """Return what belongs to some pairs."""
    if not pairs.size:
        return order[:0]
    return np.concatenate([order[ptr[p] : ptr[p + 1]] for p in pairs])


def _nothing() -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    none = np.empty(0, dtype=np.int64)
    return none, np.empty(0), np.empty(0), none


def _flows(
    outcome: Timeline | Together, cluster: Cluster, way: Ways
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return changes of messages' rates, and of whether they flow: 1 begins, -1 ends."""
    program, number, nbytes = _program(outcome, cluster)
    plan = lower_program(program, cluster)
    loop = FairLoop(plan, large(program.src.size, True), plan.enter[plan.route])
    op, time, rate = loop.logged(nbytes)
    op = number[op]
    order = np.argsort(op, kind="stable")
    op, time = op[order], time[order] + cluster.launch
    rate = rate[order] * program.piece * nbytes / way.slow[way.pair[op]]
    before = np.where(np.diff(op, prepend=-1) == 0, np.roll(rate, 1), 0.0)
    flowing = (rate > 0).astype(np.int64) - (before > 0)
    return op, time, rate - before, flowing


def _program(outcome: Timeline | Together, cluster: Cluster) -> tuple[Program, IntArray, float]:
    """Return what ran, the message that each of its operations is, and at what size."""
    if isinstance(outcome, Timeline):
        program = single(outcome.schedule)
        return program, np.arange(program.src.size), outcome.nbytes
    program, places = merged(
        [job.schedule for job in outcome.jobs],
        [parties(job.schedule, cluster, np.asarray(job.ranks)) for job in outcome.jobs],
        [float(job.nbytes) for job in outcome.jobs],
        [job.start for job in outcome.jobs],
    )
    number = np.empty(program.src.size, dtype=np.int64)
    number[np.concatenate(places)] = np.arange(number.size)
    # The pieces of a program are in bytes already.
    return program, number, 1.0


def _bursts(
    sent: Messages, way: Ways, rows: IntArray, beta: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return, under fifo, when messages begin and end to pass a link, and how fast."""
    pair = way.pair[rows]
    slower = beta * way.slow[pair]
    begin = sent.start[rows] + way.busy[pair]
    lasts = sent.size[rows] * slower
    some = np.flatnonzero(lasts > 0)
    begin, end, rate = begin[some], (begin + lasts)[some], 1 / slower[some]
    ones = np.ones(some.size, dtype=np.int64)
    return (
        np.concatenate([begin, end]),
        np.concatenate([rate, -rate]),
        np.concatenate([ones, -ones]),
    )


def _levels(
    when: FloatArray, change: FloatArray, flows: IntArray, sliver: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return from when to when how much flows, from changes in any order."""
    order = np.argsort(when, kind="stable")
    when, rate = when[order], np.cumsum(change[order])
    # Whole numbers say when nothing is left.
    under_way = np.cumsum(flows[order])
    lasts = np.diff(when, append=-np.inf) > sliver
    kept = np.flatnonzero(lasts & (under_way > 0))
    return when[kept], when[np.minimum(kept + 1, when.size - 1)], rate[kept]
