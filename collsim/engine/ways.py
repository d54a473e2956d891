"""Every message of a simulation, and the links and ports that it crosses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.core.timeline import Timeline
from collsim.engine.lower import check_agents, routes_of
from collsim.engine.ragged import sums
from collsim.engine.together import Together

__all__ = ["Messages", "Ways", "messages", "parties", "pointers", "ways"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Messages:
    """Every message between ranks of the cluster, of one job or several.

    Parameters
    ----------
    src, dst : int array, shape (N,)
        Ranks of the cluster P; the switch of node k is P + k.
    size : float array, shape (N,)
        Bytes.
    start : float array, shape (N,)
        Seconds, on one clock.
    """

    src: IntArray
    dst: IntArray
    size: FloatArray
    start: FloatArray


@dataclass(frozen=True, eq=False)
class Ways:
    """Links and ports that every message crosses.

    Parameters
    ----------
    names : tuple of str
        Of the links, then of every egress port, then of every ingress port.
    beta, lanes : array, shape (K,)
        Of each.
    pair : int array, shape (N,)
        Each message's pair of sender and receiver.
    ptr, crossed : int arrays
        Pair i crosses ``crossed[ptr[i]:ptr[i + 1]]``.
    alpha, busy, slow : float array
        Of each pair: its start-up, for how much of it the way is held, and what a byte counts
        for on its links, which is more than 1 in a switch.
    """

    names: tuple[str, ...]
    beta: FloatArray
    lanes: IntArray
    pair: IntArray
    ptr: IntArray
    crossed: IntArray
    alpha: FloatArray
    busy: FloatArray
    slow: FloatArray


def messages(outcome: Timeline | Together, cluster: Cluster) -> Messages:
    """Return every message of a simulation, of all jobs in their order."""
    if isinstance(outcome, Timeline):
        schedule = outcome.schedule
        return Messages(
            schedule.src.astype(np.int64),
            schedule.dst.astype(np.int64),
            schedule.fraction * outcome.nbytes,
            outcome.start,
        )
    columns: list[list[NDArray[Any]]] = [[], [], [], []]
    for job, timeline in zip(outcome.jobs, outcome.timelines, strict=True):
        party = parties(job.schedule, cluster, np.asarray(job.ranks))
        for column, values in zip(
            columns,
            (
                party[job.schedule.src],
                party[job.schedule.dst],
                job.schedule.fraction * timeline.nbytes,
                timeline.start + job.start,
            ),
            strict=True,
        ):
            column.append(values)
    return Messages(*(np.concatenate(column) for column in columns))


def ways(sent: Messages, cluster: Cluster) -> Ways:
    """Return what messages cross, and what that costs."""
    links, ranks = cluster.links, cluster.ranks
    every = ranks + cluster.nodes
    distinct, pair = np.unique(sent.src * every + sent.dst, return_inverse=True)
    src, dst = np.divmod(distinct, every)
    ptr, link = routes_of(cluster, src, dst)
    owner = np.repeat(np.arange(src.size), np.diff(ptr))
    names, beta, lanes = [*links.names], [links.beta], [links.lanes]
    owners, crossed = [owner], [link]
    for label, port, end in (
        ("egress", cluster.egress, src),
        ("ingress", cluster.ingress, dst),
    ):
        if port is not None:
            held = np.flatnonzero((src != dst) & (end < ranks))
            owners.append(held)
            crossed.append(len(names) + end[held])
            names += [f"{label}[{r}]" for r in range(ranks)]
            beta.append(np.full(ranks, port.beta))
            lanes.append(np.full(ranks, port.lanes))
    order = np.argsort(np.concatenate(owners), kind="stable")
    slow = np.ones(src.size)
    if cluster.in_switch is not None:
        slow[np.maximum(src, dst) >= ranks] /= cluster.in_switch.efficiency
    return Ways(
        names=tuple(names),
        beta=np.concatenate(beta),
        lanes=np.concatenate(lanes),
        pair=pair,
        ptr=pointers(np.concatenate(owners), src.size),
        crossed=np.concatenate(crossed)[order],
        alpha=sums(links.alpha[link], ptr),
        busy=sums(links.busy[link], ptr),
        slow=slow,
    )


def parties(schedule: Schedule, cluster: Cluster, ranks: IntArray) -> IntArray:
    """Return the number in the cluster of every rank and switch of a schedule."""
    agents = check_agents(schedule, cluster, ranks)
    return np.concatenate([ranks, cluster.ranks + agents])


def pointers(keys: IntArray, count: int) -> IntArray:
    """Return where the rows of each key begin, of keys from 0 up in any order."""
    ptr = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=ptr[1:])
    return ptr
