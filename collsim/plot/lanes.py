"""What a picture of a timeline shows: bars in lanes or, for many ranks, how busy groups are."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.lanes import lanes
from collsim.errors import InputError

__all__ = ["MOST_BARS", "Bars", "By", "Cells", "Per", "timeline_lanes"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
By = Literal["round", "chunk"]
Per = Literal["rank", "port"]

# Beyond these nobody can tell one message from another.
_MOST_RANKS: Final = 64
MOST_BARS: Final = 12_000
_MOST_GROUPS: Final = 32
_BINS: Final = 240


@dataclass(frozen=True, eq=False)
class Bars:
    """Every message as a bar.

    Parameters
    ----------
    names : tuple of str
        Of the lanes, from the top: ranks, or their ports (``"3 out"``); and switches that
        send.
    node : int array, shape (L,)
        The node of each.
    rows : int array, shape (L,)
        Rows of a lane, as many as it has messages under way at once.
    operation : int array, shape (B,)
        Index in the schedule of what each bar shows.
    lane, row : int array, shape (B,)
        Where it lies.
    begin, end : float array, shape (B,)
        Seconds.
    value : int array, shape (B,)
        What it is coloured by: its round, from 1 up, or the first chunk that it carries; -1
        where it carries none.
    peer : tuple of str
        What is written on it: ``"→3"``, the receiver, or ``"←3"``, the sender.
    """

    names: tuple[str, ...]
    node: IntArray
    rows: IntArray
    operation: IntArray
    lane: IntArray
    row: IntArray
    begin: FloatArray
    end: FloatArray
    value: IntArray
    peer: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """How many of the ranks of each group are sending, over time.

    Parameters
    ----------
    names : tuple of str
        Of the groups, from the top: nodes, or ranks one after another; and switches that
        send.
    group : int array, shape (P + A,)
        The group of every rank, and of every switch that takes part.
    edges : float array, shape (T + 1,)
        Seconds between which a cell lies.
    share : float array, shape (L, T)
        Of the time of all its ranks in a cell, that in which they send: 0 to 1.
    """

    names: tuple[str, ...]
    group: IntArray
    edges: FloatArray
    share: FloatArray


@checked
def timeline_lanes(
    timeline: Timeline, cluster: Cluster, *, by: By = "round", per: Per = "rank"
) -> Bars | Cells:
    """Return what a picture of a timeline shows.

    Parameters
    ----------
    timeline : Timeline
        From :func:`collsim.simulate`.
    cluster : Cluster
        What it was simulated on.
    by : {"round", "chunk"}
        What colours tell apart.
    per : {"rank", "port"}
        One lane for what a rank sends, or two for what it sends and receives.

    Returns
    -------
    Bars or Cells
        Bars up to 64 ranks and 12,000 messages; beyond, groups of ranks.

    Raises
    ------
    InputError
        If there is no message to show, or the cluster has another number of ranks.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> cluster = Cluster.ideal(4, "10us", "900GB/s")
    >>> timeline = simulate(build("broadcast", "mst", 4), cluster, 1000)
    >>> bars = timeline_lanes(timeline, cluster)
    >>> bars.names, bars.lane.tolist(), bars.peer, bars.value.tolist()
    (('0', '1', '2', '3'), [0, 0, 2], ('→2', '→1', '→3'), [1, 2, 2])
    """
    schedule = timeline.schedule
    if by not in ("round", "chunk"):
        raise InputError(f"by: got {by!r}, expected round or chunk")
    if per not in ("rank", "port"):
        raise InputError(f"per: got {per!r}, expected rank or port")
    if schedule.ranks != cluster.ranks:
        raise InputError(
            f"timeline: {schedule.ranks} ranks, but the cluster has {cluster.ranks}"
        )
    if not (timeline.finish > timeline.start).any():
        raise InputError(
            f"plot: {schedule.collective.name} on {cluster.ranks} ranks of {cluster.name} "
            "has no message that takes time, so there is nothing to draw"
        )
    bars = len(schedule) * (2 if per == "port" else 1)
    if cluster.ranks > _MOST_RANKS or bars > MOST_BARS:
        return _cells(timeline, cluster)
    return _bars(timeline, cluster, by, per)


def _bars(timeline: Timeline, cluster: Cluster, by: By, per: Per) -> Bars:
    schedule = timeline.schedule
    src, dst = schedule.src.astype(np.int64), schedule.dst.astype(np.int64)
    operation = np.arange(len(schedule))
    sends = 2 if per == "port" else 1
    if by == "round":
        value = schedule.round.astype(np.int64) + 1
    else:
        some = np.flatnonzero(np.diff(schedule.piece_ptr))
        value = np.full(len(schedule), -1)
        value[some] = np.minimum.reduceat(schedule.piece, schedule.piece_ptr[:-1][some])
    lane = src * sends
    peer = [f"→{schedule.party(i).replace('switch of node ', 'switch ')}" for i in dst.tolist()]
    if per == "port":
        operation = np.concatenate([operation, operation])
        lane = np.concatenate([lane, dst * sends + 1])
        peer += [f"←{schedule.party(i).replace('switch of node ', 'switch ')}" for i in src]
        value = np.concatenate([value, value])
    begin, end = timeline.start[operation], timeline.finish[operation]
    seen = np.flatnonzero(end > begin)
    used = set(lane[seen].tolist())
    kept = [
        i for i in range(schedule.parties * sends) if i < cluster.ranks * sends or i in used
    ]
    number = {old: new for new, old in enumerate(kept)}
    names = [schedule.party(i // sends).replace("switch of node", "switch") for i in kept]
    if per == "port":
        names = [f"{name} {('out', 'in')[i % 2]}" for name, i in zip(names, kept, strict=True)]
    home = [*cluster.node.tolist(), *range(schedule.agents)]
    place = np.array([number[i] for i in lane[seen].tolist()], dtype=np.int64)
    row, rows = _packed(place, begin[seen], end[seen], len(kept))
    return Bars(
        tuple(names), np.array([home[i // sends] for i in kept]), rows, operation[seen], place,
        row, begin[seen], end[seen], value[seen], tuple(peer[i] for i in seen.tolist()),
    )  # fmt: skip


def _packed(
    lane: IntArray, begin: FloatArray, end: FloatArray, count: int
) -> tuple[IntArray, IntArray]:
    """Return a row for every bar on which no other lies at the same time, and rows by lane."""
    row = np.zeros(lane.size, dtype=np.int64)
    rows = np.ones(count, dtype=np.int64)
    # Ends and starts that are one in the model may differ in their last digits.
    sliver = 1e-9 * float(end.max(initial=0.0))
    order = np.lexsort((end, begin, lane))
    first = np.searchsorted(lane[order], np.arange(count + 1))
    for k in range(count):
        mine = order[first[k] : first[k + 1]]
        if mine.size:
            row[mine] = lanes(begin[mine], end[mine] - sliver)
            rows[k] = row[mine].max() + 1
    return row, rows


def _groups(cluster: Cluster) -> tuple[IntArray, tuple[str, ...]]:
    """Return the group of every rank: its node, or some neighbours."""
    nodes = cluster.nodes
    unit, what = (cluster.node, "node") if nodes > 1 else (np.arange(cluster.ranks), "rank")
    count = nodes if nodes > 1 else cluster.ranks
    each = -(-count // (_MOST_RANKS if nodes > 1 and nodes <= _MOST_RANKS else _MOST_GROUPS))
    names = [
        f"{what} {low}" if each == 1 else f"{what}s {low}-{min(low + each, count) - 1}"
        for low in range(0, count, each)
    ]
    return np.asarray(unit, dtype=np.int64) // each, tuple(names)


def _cells(timeline: Timeline, cluster: Cluster) -> Cells:
    group, names = _groups(cluster)
    agents = timeline.schedule.agents
    if agents:
        group = np.concatenate([group, np.full(agents, len(names))])
        names = (*names, "switch 0" if agents == 1 else f"switches 0-{agents - 1}")
    edges = np.linspace(0.0, timeline.makespan, _BINS + 1)
    share = np.zeros((len(names), _BINS))
    src = timeline.schedule.src
    order = np.lexsort((timeline.start, src))
    firsts = np.searchsorted(src[order], np.arange(group.size + 1))
    for party in range(group.size):
        mine = order[firsts[party] : firsts[party + 1]]
        if mine.size:
            share[group[party]] += _busy(timeline.start[mine], timeline.finish[mine], edges)
    members = np.bincount(group, minlength=len(names))
    share /= members[:, None] * (edges[1] - edges[0])
    return Cells(names, group, edges, np.clip(share, 0.0, 1.0))


def _busy(begin: FloatArray, end: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the seconds between edges that intervals cover; they come by their begin."""
    until = np.maximum.accumulate(end)
    fresh = np.concatenate([[True], begin[1:] > until[:-1]])
    starts = begin[fresh]
    stops = until[np.concatenate([np.flatnonzero(fresh)[1:] - 1, [begin.size - 1]])]
    # Covered time up to any moment, by its corners.
    times = np.stack([starts, stops], axis=1).ravel()
    covered = np.concatenate([[0.0], np.cumsum(stops - starts)])
    heights = np.stack([covered[:-1], covered[1:]], axis=1).ravel()
    found: FloatArray = np.diff(np.interp(edges, times, heights))
    return found
