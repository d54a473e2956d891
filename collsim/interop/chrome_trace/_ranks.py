"""What every rank sends and receives: a process per node, threads per rank and direction."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.engine.lanes import lanes
from collsim.interop.chrome_trace._event import NODES, arrow, named, slice_
from collsim.interop.chrome_trace._sent import Sent

__all__ = ["rank_events"]

IntArray = NDArray[np.int64]

# Messages whose arguments are spelled at a time.
_BATCH = 4096


def rank_events(sent: Sent, cluster: Cluster, first: int) -> Iterator[str]:
    """Yield every message twice, at its sender and at its receiver, with an arrow between.

    Messages that overlap at one rank and direction lie on further threads. At the sender,
    the time before the first byte arrives is a slice within: the arrow leaves from there.

    Parameters
    ----------
    sent : Sent
        The messages.
    cluster : Cluster
        Where.
    first : int
        The number of the first thread.
    """
    for node in range(cluster.nodes):
        yield from named("process", NODES + node, None, f"node {node}", NODES + node)
    parties = cluster.ranks + cluster.nodes
    order = [np.argsort(end, kind="stable") for end in (sent.src, sent.dst)]
    ptr = [_pointers(end, parties) for end in (sent.src, sent.dst)]
    thread = first
    for party in _by_node(cluster):
        node = int(cluster.node[party]) if party < cluster.ranks else party - cluster.ranks
        for out in (True, False):
            rows = order[not out][ptr[not out][party] : ptr[not out][party + 1]]
            port = _Port(sent, rows, party, NODES + node, cluster.ranks, out, thread)
            thread += port.lanes
            yield from port.events()


def _by_node(cluster: Cluster) -> list[int]:
    """Return ranks node by node, each node's switch after them."""
    found: list[int] = []
    for node in range(cluster.nodes):
        found += np.flatnonzero(cluster.node == node).tolist()
        found.append(cluster.ranks + node)
    return found


def _pointers(keys: IntArray, count: int) -> IntArray:
    ptr = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=ptr[1:])
    return ptr


class _Port:
    """What one party sends, or receives."""

    def __init__(
        self,
        sent: Sent,
        rows: IntArray,
        party: int,
        pid: int,
        ranks: int,
        out: bool,
        first: int,
    ) -> None:
        start, byte, arrival, finish = sent.ends(rows)
        # Bytes that take no time are seen from the start on.
        into = np.where(byte < finish, byte, start)
        begin, end = (start, arrival) if out else (into, finish)
        by_time = np.argsort(begin, kind="stable")
        self.rows, self.sent, self.out, self.pid = rows[by_time], sent, out, pid
        self.begin, self.end = begin[by_time], end[by_time]
        self.byte = byte[by_time]
        self.other = (sent.dst if out else sent.src)[self.rows]
        # What takes no time in no place has no arrow.
        self.arrow = (self.other != party) & (start < finish)[by_time]
        self.lane = lanes(self.begin, self.end)
        self.lanes = max(self.lane, default=-1) + 1
        self.party, self.ranks, self.first = party, ranks, first

    def events(self) -> Iterator[str]:
        for lane in range(self.lanes):
            tid = self.first + lane
            name = f"{_name(self.party, self.ranks)} {'out' if self.out else 'in'}"
            if lane:
                name += f", lane {lane + 1}"
            yield from named("thread", self.pid, tid, name, tid)
        for at in range(0, self.rows.size, _BATCH):
            yield from self._messages(slice(at, at + _BATCH))

    def _messages(self, some: slice) -> Iterator[str]:
        columns = (self.rows, self.begin, self.end, self.byte, self.other, self.arrow)
        told = self.sent.told(self.rows[some])
        towards = "to" if self.out else "from"
        for n, begin, end, byte, other, joined, lane, (kind, cat, args) in zip(
            *(column[some].tolist() for column in columns), self.lane[some], told, strict=True
        ):
            where = f'"pid":{self.pid},"tid":{self.first + lane}'
            name = f"{kind} {towards} {_name(other, self.ranks)}"
            yield slice_(where, name, begin, end, args, cat)
            if self.out and begin < byte < end:
                yield slice_(where, "start-up", begin, byte, cat="alpha")
            if joined:
                yield arrow(where, self.out, n, begin)


def _name(party: int, ranks: int) -> str:
    return f"rank {party}" if party < ranks else f"switch of node {party - ranks}"
