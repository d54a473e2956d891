"""Networks on which a schedule is tried out, whatever cluster it is meant for.

Where switches take part, each reaches the ranks that it exchanges messages with, over
links of their own.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.in_switch import InSwitch
from collsim.core.link import LinkClass, Links
from collsim.core.schedule import Schedule
from collsim.errors import InputError

__all__ = ["even", "nodes_of", "uneven"]

IntArray = NDArray[np.int64]

_ALPHA: Final = 1e-6
_BANDWIDTH: Final = 1e9


def even(schedule: Schedule) -> Cluster:
    """Return the ideal one-port network, with the switches that take part.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> even(build("all_reduce", "ring", 4)).uniform
    (1e-06, 1e-09)
    """
    ideal = Cluster.ideal(schedule.ranks, alpha=_ALPHA, bandwidth=_BANDWIDTH)
    if not schedule.agents:
        return ideal
    ranks = schedule.ranks
    link = LinkClass("switch", alpha=_ALPHA, bandwidth=_BANDWIDTH, source="made up")
    up = Links.assemble((["up"] * ranks, link, True), (["down"] * ranks, link, False))
    one, many = ideal.links, [1] * (2 * ranks)
    return replace(
        ideal,
        links=Links(
            names=one.names + up.names,
            classes=(*one.classes, link),
            kind=np.append(one.kind, len(one.classes) + up.kind),
            alpha=np.append(one.alpha, up.alpha),
            beta=np.append(one.beta, up.beta),
            busy=np.append(one.busy, up.busy),
            lanes=np.append(one.lanes, many),
        ),
        node=nodes_of(schedule),
        uniform=None,
        in_switch=_beside(schedule, len(one)),
    )


def uneven(schedule: Schedule) -> Cluster:
    """Return a network on which no two pairs are equally fast, so that rounds drift apart.

    Latencies overlap and reductions take time.
    """
    ranks = schedule.ranks
    # After the pairs of ranks, what leads to switches, up and down.
    pairs = np.arange(ranks * ranks + 2 * ranks * (schedule.agents > 0))
    link = LinkClass("pair", alpha=0.5e-6, bandwidth=1e9, alpha_busy=0.0, source="made up")
    # The fractions of an irrational number's multiples: spread out, none twice.
    alpha = link.alpha * (1 + pairs * np.sqrt(5) % 1)
    return Cluster(
        name="uneven",
        ranks=ranks,
        links=Links(
            names=(link.name,) * pairs.size,
            classes=(link,),
            kind=np.zeros(pairs.size, dtype=np.int64),
            alpha=alpha,
            beta=link.beta * (1 + pairs * np.sqrt(2) % 1),
            busy=np.zeros(pairs.size),
            lanes=np.ones(pairs.size, dtype=np.int64),
        ),
        router=_EveryPair(ranks),
        least_alpha=float(alpha.min()),
        least_busy=0.0,
        node=nodes_of(schedule),
        gamma=1e-9,
        in_switch=_beside(schedule, ranks * ranks),
    )


def nodes_of(schedule: Schedule) -> IntArray:
    """Return the node of every rank: that whose switch it exchanges messages with, or 0.

    Raises
    ------
    InputError
        If a rank does so with two.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> nodes_of(build("all_reduce", "nvls", 3, multicast=True)).tolist()
    [0, 0, 0]
    """
    node = np.zeros(schedule.ranks, dtype=np.int64)
    if not schedule.agents:
        return node
    ends = np.stack([schedule.src, schedule.dst]).astype(np.int64)
    low, high = ends.min(axis=0), ends.max(axis=0)
    pairs = np.unique(np.stack([low, high])[:, high >= schedule.ranks], axis=1)
    twice = np.flatnonzero(np.diff(pairs[0]) == 0)
    if twice.size:
        rank, one, two = pairs[0, twice[0]], *pairs[1, twice[0] : twice[0] + 2]
        raise InputError(
            f"schedule: rank {rank} exchanges messages with the {schedule.party(int(one))} and "
            f"with the {schedule.party(int(two))}, expected with one switch"
        )
    node[pairs[0]] = pairs[1] - schedule.ranks
    return node


def _beside(schedule: Schedule, first: int) -> InSwitch | None:
    """Return links up and down that follow others, if switches take part."""
    every = first + np.arange(schedule.ranks)
    return InSwitch(every, every + schedule.ranks) if schedule.agents else None


@dataclass(frozen=True)
class _EveryPair:
    """A link of its own for every ordered pair of ranks."""

    ranks: int

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        return np.arange(src.size + 1), src * self.ranks + dst
