"""Turn a schedule on a cluster into flat arrays for the event loop."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Ports
from collsim.core.schedule import Schedule
from collsim.engine.plan import Plan, grid
from collsim.engine.program import Program, single
from collsim.errors import InputError

__all__ = ["Plan", "grid", "lower", "lower_program"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# A table over all pairs of ranks beats sorting while it is not much larger than what
# would be sorted.
_TABLE_UP_TO: Final = 4096


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
        adding=(cluster.gamma if reduces.any() else 0.0) * scale,
        enter=program.start[job] + np.maximum(delay[src], delay[dst]),
        held_ptr=held_ptr,
        held=packed.astype(np.int64),
        held_beta=held_beta[order] * np.repeat(scale, np.diff(held_ptr)),
        lane_ptr=lane_ptr,
        dep_ptr=program.dep_ptr,
        dep=program.dep,
        # Without reductions it must not make the grid of time coarse.
        gamma=cluster.gamma if reduces.any() else 0.0,
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
