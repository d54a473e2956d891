"""Turn a schedule on a cluster into flat arrays for the event loop."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Ports
from collsim.core.schedule import Schedule
from collsim.engine.program import Program, single
from collsim.errors import InputError

__all__ = ["Plan", "grid", "lower", "lower_program"]

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
        Of several jobs, those of the largest.
    rounds : int
        As in the schedule.
    in_turn : float
        Pieces sent one after another, were each round to wait for its largest message.
    route : int32 array, shape (N,)
        Route of each operation. Routes are numbered 0 to R - 1; each job has its own.
    reduces : bool array, shape (N,)
        Whether the receiver must reduce what arrives.
    dst : int32 array, shape (N,)
        Receiver of each operation.
    alpha, beta, busy : float array, shape (R,)
        Sum of alpha, greatest beta (ports count), and sum of alpha_busy of each route.
    adding : float array, shape (R,)
        Seconds per byte reduced at the end of each route.
    enter : float array, shape (R,)
        Seconds after the launch at which both ends of each route have entered.
    held_ptr, held, held_beta : arrays, shapes (R + 1,), (K,), (K,)
        Links and ports that each route holds, and their betas.
    lane_ptr : int64 array
        Lanes of link or port h are numbered ``lane_ptr[h]`` up to ``lane_ptr[h + 1]``.
    dep_ptr, dep : int arrays
        As in the schedule.
    gamma, launch : float
        As in the cluster.
    step : float
        The grid of time, in a plan at one size.
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
    adding: FloatArray
    enter: FloatArray
    held_ptr: IntArray
    held: IntArray
    held_beta: FloatArray
    lane_ptr: IntArray
    dep_ptr: IntArray
    dep: NDArray[np.int32]
    gamma: float
    launch: float
    step: float = 0.0

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
        late = float(self.enter.max(initial=0.0))
        whole = late + startups + self.in_turn * piece * slowest
        return self.on_grid(nbytes, grid(whole, _BITS))

    def on_grid(self, nbytes: float, step: float) -> "Plan":
        """Return the plan with the costs of one size, per piece, in multiples of `step`."""
        piece = self.piece * nbytes

        def rounded(costs: FloatArray) -> FloatArray:
            return np.rint(costs / step) * step

        return replace(
            self,
            piece=1.0,
            alpha=rounded(self.alpha),
            busy=rounded(self.busy),
            adding=rounded(piece * self.adding),
            enter=rounded(self.enter),
            beta=rounded(piece * self.beta),
            held_beta=rounded(piece * self.held_beta),
            gamma=float(rounded(np.array(piece * self.gamma))),
            step=step,
        )

    def rounded(self, seconds: float) -> float:
        """Return the nearest time on the grid of a plan at one size."""
        return round(seconds / self.step) * self.step


def grid(whole: float, bits: int) -> float:
    """Return a power of two that is so many bits below a time.

    Examples
    --------
    >>> grid(5.0, 3)  # 5 is below 8
    1.0
    """
    _, exponent = math.frexp(whole)
    return math.ldexp(1.0, max(exponent - bits, -1000))


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
    return lower_program(single(schedule), cluster)


def lower_program(program: Program, cluster: Cluster) -> Plan:
    """Return the plan of a program whose ranks are those of the cluster."""
    src, dst, job, route = _pairs(program, cluster.ranks)
    away = src != dst
    ptr, link = _routes(cluster, src, dst)
    counts = np.diff(ptr)
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
    delay = np.zeros(cluster.ranks) if cluster.delay is None else cluster.delay
    # A flow is so many bytes over links of one rate. Where messages follow one another,
    # counts of a job's own pieces keep the products exact, and its costs are per piece.
    fair = cluster.sharing == "fair"
    scale = np.ones(src.size) if fair else program.scale[job]
    reduces = program.reduces
    if cluster.local is None:
        reduces = reduces & (program.src != program.dst)
    return Plan(
        size=program.size * program.scale[program.job] if fair else program.size,
        piece=program.piece,
        rounds=program.rounds,
        in_turn=program.in_turn,
        route=route,
        reduces=reduces,
        dst=program.dst,
        ranks=cluster.ranks,
        alpha=alpha,
        beta=beta * scale,
        busy=busy,
        adding=cluster.gamma * scale,
        enter=program.start[job] + np.maximum(delay[src], delay[dst]),
        held_ptr=held_ptr,
        held=packed.astype(np.int64),
        held_beta=held_beta[order] * np.repeat(scale, np.diff(held_ptr)),
        lane_ptr=lane_ptr,
        dep_ptr=program.dep_ptr,
        dep=program.dep,
        gamma=cluster.gamma,
        launch=cluster.launch,
    )


def _pairs(
    program: Program, ranks: int
) -> tuple[IntArray, IntArray, IntArray, NDArray[np.int32]]:
    """Return each job's distinct (src, dst), that job, and the pair of every operation."""
    key = (program.job.astype(np.int64) * ranks + program.src) * ranks + program.dst
    keys = program.scale.size * ranks * ranks
    if keys <= max(_TABLE_UP_TO, 8 * key.size):
        table = np.zeros(keys, dtype=np.int32)
        table[key] = 1
        distinct = np.flatnonzero(table)
        table[distinct] = np.arange(distinct.size)
        pair = table[key]
    else:
        distinct, inverse = np.unique(key, return_inverse=True)
        pair = inverse.astype(np.int32)
    job, both = np.divmod(distinct, ranks * ranks)
    return both // ranks, both % ranks, job, pair


def _routes(cluster: Cluster, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
    """Return the links of every pair; from a rank to itself its memory, or none."""
    away = src != dst
    far_ptr, far = cluster.router(src[away], dst[away])
    counts = np.full(src.size, 0 if cluster.local is None else 1, dtype=np.int64)
    counts[away] = np.diff(far_ptr)
    ptr = np.zeros(src.size + 1, dtype=np.int64)
    np.cumsum(counts, out=ptr[1:])
    link = np.empty(ptr[-1], dtype=np.int64)
    crosses = np.repeat(away, counts)
    link[crosses] = far
    if cluster.local is not None:
        link[~crosses] = cluster.local[src[~away]]
    return ptr, link


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
