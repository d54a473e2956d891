"""Counters: how many bytes per second flow over every link and port that has a limit."""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.together import Together
from collsim.engine.traffic import Traffic, traffic
from collsim.interop.chrome_trace._event import NODES, counter, named, ticks

__all__ = ["counter_events"]

FloatArray = NDArray[np.float64]

# A counter of more changes shows averages over so many equal times instead.
_MOST = 4096


def counter_events(outcome: Timeline | Together, cluster: Cluster) -> Iterator[str]:
    """Yield the rate of every link and port over time, from 0 on, where anything flows.

    Ports are with the node of their rank, links in a process of their own, which comes last.
    """
    links = NODES + cluster.nodes
    is_named = False
    for one in traffic(outcome, cluster):
        if not one.begin.size or not np.isfinite(one.capacity):
            continue
        port = re.fullmatch(r"(?:egress|ingress)\[(\d+)\]", one.name)
        if port is None and not is_named:
            is_named = True
            yield from named("process", links, None, "links", links)
        pid = links if port is None else NODES + int(cluster.node[int(port[1])])
        for at, rate in levels(one):
            yield counter(pid, one.name, at, rate)


def levels(one: Traffic) -> list[tuple[int, float]]:
    """Return from which nanosecond on what rate holds; it begins and ends with 0.

    Of very many changes, averages over equal times are told, so that the bytes stay right.
    """
    begin, end, rate = one.begin, one.end, one.rate
    if begin.size > _MOST:
        begin, end, rate = _averages(one)
    found = {0: 0.0}
    for first, last, value in zip(
        ticks(begin).tolist(), ticks(end).tolist(), rate.tolist(), strict=True
    ):
        found[first] = value
        found[last] = 0.0
    told: list[tuple[int, float]] = []
    for at, value in found.items():
        if not told or told[-1][1] != value:
            told.append((at, value))
    return told


def _averages(one: Traffic) -> tuple[FloatArray, FloatArray, FloatArray]:
    edges = np.linspace(one.begin[0], one.end[-1], _MOST + 1)
    passed = np.concatenate([[0.0], np.cumsum((one.end - one.begin) * one.rate)])
    # Bytes that have passed by a time: they rise from each begin to its end, and rest between.
    times = np.ravel([one.begin, one.end], order="F")
    by_then = np.ravel([passed[:-1], passed[1:]], order="F")
    at_edges = np.interp(edges, times, by_then)
    return edges[:-1], edges[1:], np.diff(at_edges) / np.diff(edges)
