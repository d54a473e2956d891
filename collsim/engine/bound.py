"""The lower bound: no schedule of a collective on a cluster is faster.

Two arguments, each true by itself, so the larger one counts. Both hold for whatever
messages a schedule sends, as long as data are forwarded, copied and reduced, not coded.

*Latency.* A rank with news can begin a message on each of its k ways out, and on the
same way again after o, the least time that a message holds a way apart from its bytes;
news arrive alpha later at the earliest. So at most N(t) ranks have heard of one rank's
data by time t, N(t) = N(t - o) + k N(t - alpha), and 1 before alpha (Bar-Noy, Kipnis
1992). Backwards in time the same counts the ranks whose data can have reached one rank.
Every collective but sendrecv needs one of the two for all P ranks. And every collective
sends something from one group of a cut to another, which takes the least alpha of the
routes that cross it: between nodes more than inside.

*Bytes.* A cut parts the ranks into groups. What only one group has and another needs
must leave it; what a group needs and has not must enter it; and a link of k lanes passes
no more than k times its bandwidth. Beside that, every block needs some number of
crossings in all: one per group beyond its origin, and for a reduced block, one from each
group but the first that has the whole result, then one to each that needs it after.
Some group sends, and some group receives, at least its share of all these.
Where a switch multicasts or reduces, one crossing serves many, and that last argument
falls for cuts that run through the switch; the others stand.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster, Cut
from collsim.core.collective import Collective
from collsim.core.collective import collective as find_collective
from collsim.engine.simulation import check_nbytes

__all__ = ["Bound", "bound", "crossings", "lower_bound", "postal"]

IntArray = NDArray[np.int64]
# Most that leaves one group, most that enters one, and all crossings: multiples of n.
Crossings = tuple[float, float, float]


@dataclass(frozen=True)
class Bound:
    """A lower bound at every size.

    Parameters
    ----------
    launch : float
        Seconds that every collective pays once.
    latency : float
        Seconds that it takes however small the message is.
    per_byte : float
        Seconds per byte of the buffer, over the narrowest cut.
    """

    launch: float
    latency: float
    per_byte: float

    def seconds(self, nbytes: float) -> float:
        """Return the bound in seconds, for a buffer of n bytes.

        Examples
        --------
        >>> Bound(launch=1.0, latency=2.0, per_byte=0.5).seconds(10)
        6.0
        """
        return self.launch + max(self.latency, nbytes * self.per_byte)


@checked
def lower_bound(collective: Collective | str, cluster: Cluster, nbytes: float | str) -> float:
    """Return a time in seconds below which no schedule can be, whatever its root.

    Parameters
    ----------
    collective : Collective or str
        What is to be done, or its name.
    cluster : Cluster
        Where.
    nbytes : float or str
        Size of the buffer, n, in bytes, or text such as ``"64MiB"``.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    UnknownNameError
        If there is no collective of that name.
    InputError
        If the size is negative or not finite.

    Notes
    -----
    launch + max(latency, bytes): latency is the postal bound (Bar-Noy and Kipnis 1992), bytes
    are the largest over the cuts that the topology names; the module has the argument.

    Examples
    --------
    >>> four = Cluster.ideal(4, alpha=1e-6, bandwidth=1e9)
    >>> lower_bound("all_reduce", four, 1e6)  # 2 * 3/4 * 1 MB / (1 GB/s)
    0.0015
    """
    return bound(find_collective(collective), cluster).seconds(check_nbytes(nbytes))


@lru_cache(maxsize=64)
def bound(collective: Collective, cluster: Cluster) -> Bound:
    """Return the lower bound as a function of the size.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> bound(collective("broadcast"), Cluster.ideal(6, alpha=1.0, bandwidth=1e9)).latency
    3.0
    """
    per_byte = max((_per_byte(collective, cluster, cut) for cut in cluster.cuts), default=0.0)
    return Bound(cluster.launch, _latency(collective, cluster), per_byte)


def postal(ranks: int, alpha: float, busy: float, ways: int = 1) -> float:
    """Return the least time in which news of one rank can reach so many ranks.

    A rank that heard after j hops and i pauses did so at ``j alpha + i busy``; there are
    ``ways**j * binomial(i + j - 1, i)`` of them. They are counted in the order of time.

    Parameters
    ----------
    ranks : int
        Rank count P.
    alpha, busy : float
        Seconds until a message arrives, and until the next one may start, at most alpha.
    ways : int
        Messages that a rank may send at once.

    Examples
    --------
    >>> postal(6, alpha=1.0, busy=1.0)
    3.0
    >>> postal(6, alpha=1.0, busy=0.25)  # the root sends five: at 0, 0.25, 0.5, 0.75 and 1
    2.0
    >>> postal(6, alpha=1.0, busy=0.0)
    1.0
    """
    if ranks <= 1:
        return 0.0
    if busy == 0.0:
        return alpha
    if busy == alpha:
        rounds, heard = 0, 1
        while heard < ranks:
            rounds, heard = rounds + 1, heard * (1 + ways)
        return rounds * alpha
    # While nobody else can have answered yet, all news come from the first rank.
    pauses = -(-(ranks - 1) // ways) - 1
    if pauses * busy < alpha:
        return alpha + pauses * busy
    heard = 1
    hops = 1
    events = [(alpha, 1, 0, ways)]
    while True:
        time, j, i, count = heapq.heappop(events)
        heard += count
        if heard >= ranks:
            return time
        if i == 0:
            hops += 1
            heapq.heappush(events, (hops * alpha, hops, 0, ways**hops))
        heapq.heappush(
            events, (j * alpha + (i + 1) * busy, j, i + 1, count * (i + j) // (i + 1))
        )


def _latency(collective: Collective, cluster: Cluster) -> float:
    if cluster.ranks == 1:
        return 0.0
    across = max((_crossed(cluster, cut) for cut in cluster.cuts), default=0.0)
    return max(_news(collective, cluster), across)


def _crossed(cluster: Cluster, cut: Cut) -> float:
    """Return the alpha of the message that every collective sends across a cut."""
    # To a switch that multicasts or reduces, half a route is a message.
    if (cut.group == cut.group[0]).all():
        return 0.0
    if cluster.multicast and _divides_a_node(cluster, cut):
        return 0.0
    return cut.least_alpha


def _news(collective: Collective, cluster: Cluster) -> float:
    if collective.name == "sendrecv" or cluster.multicast:
        return cluster.least_alpha
    # Where flows share links fairly, start-ups hold nothing.
    busy = 0.0 if cluster.sharing == "fair" else cluster.least_busy
    ports = (cluster.egress, cluster.ingress)
    ways = max(cluster.ways if port is None else port.lanes for port in ports)
    return postal(cluster.ranks, cluster.least_alpha, busy, ways)


def _per_byte(collective: Collective, cluster: Cluster, cut: Cut) -> float:
    groups = int(np.count_nonzero(np.bincount(cut.group)))
    if groups < 2:
        return 0.0
    out, into, total = crossings(collective, cut.group)
    if not (cluster.multicast and _divides_a_node(cluster, cut)):
        out, into = max(out, total / groups), max(into, total / groups)
    return max(out / cut.out_rate, into / cut.in_rate)


def _divides_a_node(cluster: Cluster, cut: Cut) -> bool:
    pairs = cluster.node * (int(cut.group.max()) + 1) + cut.group
    return np.unique(pairs).size > np.unique(cluster.node).size


def crossings(collective: Collective, group: IntArray) -> Crossings:
    """Return what must cross a cut into two groups or more, in multiples of n.

    Parameters
    ----------
    collective : Collective
        What is to be done; where it has a root, the one for which least must cross.
    group : int array, shape (P,)
        Group of every rank.

    Returns
    -------
    out, into : float
        Most that must leave, or enter, one group.
    total : float
        Least sum of all bytes that leave a group.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> crossings(collective("all_reduce"), np.array([0, 0, 1, 1, 2, 2]))
    (1.0, 1.0, 4.0)
    """
    return _CROSSINGS[collective.name](group)


def _sizes(group: IntArray) -> IntArray:
    sizes = np.bincount(group)
    return np.sort(sizes[sizes > 0])


def _broadcast(group: IntArray) -> Crossings:
    return 1.0, 1.0, float(_sizes(group).size - 1)


def _scatter(group: IntArray) -> Crossings:
    """Return it for a root in the largest group; others have more to send out."""
    sizes = _sizes(group)
    outside = (group.size - float(sizes[-1])) / group.size
    return outside, float(sizes[-2]) / group.size, outside


def _gather(group: IntArray) -> Crossings:
    out, into, total = _scatter(group)
    return into, out, total


def _all_gather(group: IntArray) -> Crossings:
    sizes = _sizes(group)
    own, others = float(sizes[-1]), group.size - float(sizes[0])
    return own / group.size, others / group.size, float(sizes.size - 1)


def _reduce_scatter(group: IntArray) -> Crossings:
    out, into, total = _all_gather(group)
    return into, out, total


def _all_reduce(group: IntArray) -> Crossings:
    return 1.0, 1.0, 2.0 * (_sizes(group).size - 1)


def _all_to_all(group: IntArray) -> Crossings:
    sizes = _sizes(group)
    pairs = sizes * (group.size - sizes) / group.size
    return float(pairs.max()), float(pairs.max()), float(pairs.sum())


def _sendrecv(group: IntArray) -> Crossings:
    receiver = np.roll(group, -1)
    away = group != receiver
    out, into = np.bincount(group[away]), np.bincount(receiver[away])
    return float(out.max()), float(into.max()), float(np.count_nonzero(away))


_CROSSINGS: Final[dict[str, Callable[[IntArray], Crossings]]] = {
    "broadcast": _broadcast,
    "reduce": _broadcast,
    "scatter": _scatter,
    "gather": _gather,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "sendrecv": _sendrecv,
}
