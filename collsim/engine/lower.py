"""Turn a schedule on a cluster into flat arrays for the event loop."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Ports
from collsim.core.schedule import REDUCE, Schedule
from collsim.errors import InputError

__all__ = ["Plan", "lower"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# A table over all pairs of ranks beats sorting while it is not much larger than what
# would be sorted.
_TABLE_UP_TO: Final = 4096

# Bits of a time below the estimate of the whole: a double has 53, two are left for error.
_BITS: Final = 51


@dataclass(frozen=True, eq=False)
class Plan:
    """What the event loop reads: operations, the routes they take, and what routes hold.

    Parameters
    ----------
    size : float array, shape (N,)
        Pieces that each operation carries.
    piece : float
        Bytes of a piece: as a fraction of n, or in a plan at one size, 1.
    rounds : int
        As in the schedule.
    in_turn : float
        Pieces sent one after another, were each round to wait for its largest message.
    route : int32 array, shape (N,)
        Route of each operation. Routes are numbered 0 to R - 1.
    reduces : bool array, shape (N,)
        Whether the receiver must reduce what arrives.
    dst : int32 array, shape (N,)
        Receiver of each operation.
    alpha, beta, busy : float array, shape (R,)
        Sum of alpha, greatest beta (ports count), and sum of alpha_busy of each route.
    held_ptr, held, held_beta : arrays, shapes (R + 1,), (K,), (K,)
        Links and ports that each route holds, and their betas.
    lane_ptr : int64 array
        Lanes of link or port h are numbered ``lane_ptr[h]`` up to ``lane_ptr[h + 1]``.
    dep_ptr, dep : int arrays
        As in the schedule.
    gamma, launch : float
        As in the cluster.
    """

    size: FloatArray
    piece: float
    rounds: int
    in_turn: float
    route: NDArray[np.int32]
    reduces: NDArray[np.bool_]
    dst: NDArray[np.int32]
    ranks: int
    alpha: FloatArray
    beta: FloatArray
    busy: FloatArray
    held_ptr: IntArray
    held: IntArray
    held_beta: FloatArray
    lane_ptr: IntArray
    dep_ptr: IntArray
    dep: NDArray[np.int32]
    gamma: float
    launch: float

    def at(self, nbytes: float) -> "Plan":
        """Return the plan with the costs of one size, per piece, on a grid of time.

        Messages that wait for each other in different ways are often ready at the same
        time, and then their index decides. Sums of rounded floats would tell such times
        apart at random, and with them who goes first. On multiples of one power of two
        sums are exact: what is equal in the model is equal here. The grid is so fine
        that no time moves by more than 3e-16 of the whole per start-up, and per piece.
        """
        piece = self.piece * nbytes
        slowest = float(self.beta.max(initial=0.0)) + self.gamma
        startups = self.rounds * float(self.alpha.max(initial=0.0))
        _, exponent = math.frexp(startups + self.in_turn * piece * slowest)
        step = math.ldexp(1.0, max(exponent - _BITS, -1000))

        def on_grid(costs: FloatArray) -> FloatArray:
            return np.rint(costs / step) * step

        return replace(
            self,
            piece=1.0,
            alpha=on_grid(self.alpha),
            busy=on_grid(self.busy),
            beta=on_grid(piece * self.beta),
            held_beta=on_grid(piece * self.held_beta),
            gamma=float(on_grid(np.array(piece * self.gamma))),
        )


def lower(schedule: Schedule, cluster: Cluster) -> Plan:
    """Return the plan of a schedule on a cluster.

    Raises
    ------
    InputError
        If they are of different rank counts.
    """
    if schedule.ranks != cluster.ranks:
        raise InputError(
            f"schedule: made for {schedule.ranks} ranks, but cluster {cluster.name!r} "
            f"has {cluster.ranks}"
        )
    src, dst, route = _pairs(schedule)
    away = src != dst
    ptr = np.zeros(src.size + 1, dtype=np.int64)
    link_ptr, link = cluster.router(src[away], dst[away])
    counts = np.zeros(src.size, dtype=np.int64)
    counts[away] = np.diff(link_ptr)
    np.cumsum(counts, out=ptr[1:])
    links = cluster.links
    alpha, busy = _sums(links.alpha[link], ptr), _sums(links.busy[link], ptr)
    owner = np.repeat(np.arange(src.size), counts)

    # Links without a limit hold nobody up; ports follow the links.
    limited = links.lanes[link] > 0
    holders = [(owner[limited], link[limited], links.beta[link[limited]])]
    lanes = [links.lanes]
    base = len(links)
    for port, end in ((cluster.egress, src), (cluster.ingress, dst)):
        if port is not None:
            holders.append(_port(port, end, away, base))
            lanes.append(np.full(cluster.ranks, port.lanes, dtype=np.int64))
            base += cluster.ranks
    held_owner, held, held_beta = (
        np.concatenate([column[i] for column in holders]) for i in range(3)
    )
    order = np.argsort(held_owner, kind="stable")
    held_ptr = np.zeros(src.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(held_owner, minlength=src.size), out=held_ptr[1:])
    beta = np.zeros(src.size)
    np.maximum.at(beta, owner, links.beta[link])
    np.maximum.at(beta, held_owner, held_beta)

    used, packed = np.unique(held[order], return_inverse=True)
    lane_ptr = np.zeros(used.size + 1, dtype=np.int64)
    np.cumsum(np.concatenate(lanes)[used], out=lane_ptr[1:])
    size = np.diff(schedule.piece_ptr).astype(np.float64)
    first = np.flatnonzero(np.diff(schedule.round, prepend=np.int32(-1)))
    reduces = (schedule.kind == REDUCE) & (schedule.src != schedule.dst)
    return Plan(
        size=size,
        piece=schedule.piece_share,
        rounds=schedule.rounds,
        in_turn=float(np.maximum.reduceat(size, first).sum()) if size.size else 0.0,
        route=route,
        reduces=reduces,
        dst=schedule.dst,
        ranks=cluster.ranks,
        alpha=alpha,
        beta=beta,
        busy=busy,
        held_ptr=held_ptr,
        held=packed.astype(np.int64),
        held_beta=held_beta[order],
        lane_ptr=lane_ptr,
        dep_ptr=schedule.dep_ptr,
        dep=schedule.dep,
        # Without reductions it must not make the grid of time coarse.
        gamma=cluster.gamma if reduces.any() else 0.0,
        launch=cluster.launch,
    )


def _pairs(schedule: Schedule) -> tuple[IntArray, IntArray, NDArray[np.int32]]:
    """Return the distinct (src, dst) pairs, and the pair of every operation."""
    p = schedule.ranks
    key = schedule.src.astype(np.int64) * p + schedule.dst
    if p * p <= max(_TABLE_UP_TO, 8 * key.size):
        table = np.zeros(p * p, dtype=np.int32)
        table[key] = 1
        distinct = np.flatnonzero(table)
        table[distinct] = np.arange(distinct.size)
        return distinct // p, distinct % p, table[key]
    distinct, pair = np.unique(key, return_inverse=True)
    return distinct // p, distinct % p, pair.astype(np.int32)


def _sums(values: FloatArray, ptr: IntArray) -> FloatArray:
    """Return the sum of every row, in the order of its entries."""
    sums = np.zeros(ptr.size - 1)
    np.add.at(sums, np.repeat(np.arange(ptr.size - 1), np.diff(ptr)), values)
    return sums


def _port(
    port: Ports, end: IntArray, away: NDArray[np.bool_], base: int
) -> tuple[IntArray, IntArray, FloatArray]:
    owner = np.flatnonzero(away)
    return owner, base + end[away], np.full(owner.size, port.beta)
