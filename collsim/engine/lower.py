"""Turn a schedule on a cluster into flat arrays for the event loop.

A message to or from a switch that takes part crosses the link of one rank, whose bytes pass
at the efficiency of the switch; the switch adds up on the way.
"""

import sys
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Ports
from collsim.core.memory import allowed
from collsim.core.schedule import Schedule
from collsim.engine import ragged
from collsim.engine.plan import Plan, grid
from collsim.engine.program import Program, single
from collsim.engine.ragged import TABLE_UP_TO
from collsim.errors import InputError, TooLargeError

__all__ = ["Plan", "check_agents", "grid", "lower", "lower_program", "routes_of"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

Standing = Callable[[IntArray, IntArray, IntArray, IntArray], IntArray]

# Routes that fit into the memory of this machine.
_MOST_ROUTES: Final = allowed(300)
# Operations from which the compiled kernel is used where it is loaded.
_LOADED_FROM: Final = 500


def loaded() -> bool:
    """Return whether the compiled loops are there already."""
    return "collsim.engine.compiled" in sys.modules


def lower(schedule: Schedule, cluster: Cluster) -> Plan:
    """Return the plan of a schedule on a cluster.

    Raises
    ------
    InputError
        If they are of different rank counts, or switches take part that the cluster has not.
    """
    if schedule.ranks != cluster.ranks:
        raise InputError(
            f"schedule: made for {schedule.ranks} ranks, but cluster {cluster.name!r} "
            f"has {cluster.ranks}"
        )
    check_agents(schedule, cluster, np.arange(cluster.ranks))
    return lower_program(single(schedule), cluster)


def check_agents(schedule: Schedule, cluster: Cluster, ranks: IntArray) -> IntArray:
    """Return the node of every switch that takes part in a schedule.

    Parameters
    ----------
    schedule : Schedule
        What is to run.
    cluster : Cluster
        Where.
    ranks : int array
        Rank of the cluster on which each rank of the schedule runs.

    Raises
    ------
    InputError
        If the cluster has no switches that do, or a rank would reach one of another node.
    """
    if not schedule.agents:
        return np.empty(0, dtype=np.int64)
    if cluster.in_switch is None:
        raise InputError(
            f"schedule: switches take part in it, but those of cluster {cluster.name!r} can't "
            "add up and multicast"
        )
    ends = np.stack([schedule.src, schedule.dst]).astype(np.int64)
    rank, agent = ends.min(axis=0), ends.max(axis=0) - schedule.ranks
    rank, agent = rank[agent >= 0], agent[agent >= 0]
    here = cluster.node[ranks[rank]]
    of = np.zeros(schedule.agents, dtype=np.int64)
    of[agent] = here
    if (of[agent] != here).any():
        wrong = int(np.flatnonzero(of[agent] != here)[0])
        raise InputError(
            f"schedule: ranks of several nodes, one of them {rank[wrong]}, send to or receive "
            f"from the {schedule.party(schedule.ranks + int(agent[wrong]))} of the schedule"
        )
    return of


def lower_program(program: Program, cluster: Cluster, standing: Standing | None = None) -> Plan:
    """Return the plan of a program whose ranks are those of the cluster.

    Parameters
    ----------
    program : Program
        What is to run.
    cluster : Cluster
        Where.
    standing : callable, optional
        Given the routes (senders, receivers), and the route and number of every link or
        port that is held (ports are numbered after the links), returns which one stands
        for it.
    """
    inside = cluster.in_switch
    src, dst, job, route = _pairs(program, cluster.ranks + cluster.nodes * (inside is not None))
    if src.size > _MOST_ROUTES:
        raise TooLargeError(
            f"cluster: messages between {src.size:,} pairs of ranks take as many routes, "
            f"which is more than the {_MOST_ROUTES:,} that fit into memory"
        )
    away = src != dst
    ptr, link = routes_of(cluster, src, dst)
    counts = np.diff(ptr)
    links = cluster.links
    alpha = ragged.sums(links.alpha[link], ptr)
    alike = np.array_equal(links.alpha, links.busy)
    busy = alpha if alike else ragged.sums(links.busy[link], ptr)
    owner = np.repeat(np.arange(src.size), counts)

    # Links without a limit hold nobody up; ports follow the links.
    limited = slice(None) if (links.lanes > 0).all() else links.lanes[link] > 0
    link_beta = links.beta[link]
    holders = [(owner[limited], link[limited], link_beta[limited])]
    lanes = [links.lanes]
    base = len(links)
    for port, end in ((cluster.egress, src), (cluster.ingress, dst)):
        if port is not None:
            # A switch has no ports.
            holders.append(_port(port, end, away & (end < cluster.ranks), base))
            lanes.append(np.full(cluster.ranks, port.lanes, dtype=np.int64))
            base += cluster.ranks
    held_owner, held, held_beta = holders[0] if len(holders) == 1 else ragged.joined(holders)
    if standing is not None:
        held = standing(src, dst, held_owner, held)
    if len(holders) > 1:
        order = np.argsort(held_owner, kind="stable")
        held, held_beta = held[order], held_beta[order]
    held_ptr = np.zeros(src.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(held_owner, minlength=src.size), out=held_ptr[1:])
    beta = ragged.greatest(link_beta, ptr)
    if held_beta.size != link_beta.size or len(holders) > 1:
        beta = np.maximum(beta, ragged.greatest(held_beta, held_ptr))

    used, packed = ragged.packed(held, base)
    lane_ptr = np.zeros(used.size + 1, dtype=np.int64)
    np.cumsum(np.concatenate(lanes)[used], out=lane_ptr[1:])
    enter = program.start[job] + _late(cluster, src, dst)
    # What a byte counts for where messages pass at less than the bandwidth.
    slow = np.ones(src.size)
    if inside is not None:
        slow[np.maximum(src, dst) >= cluster.ranks] /= inside.efficiency
    # A flow is so many bytes over links of one rate. Where messages follow one another,
    # counts of a job's own pieces keep the products exact, and its costs are per piece.
    fair = cluster.sharing == "fair"
    scale = np.ones(src.size) if fair else program.scale[job] * slow
    # What arrives is added up byte by byte, however it passed.
    added = 1 / slow if fair else program.scale[job]
    plain = bool((scale == 1.0).all())
    # A switch adds up in no time, and what stays in place is there.
    reduces = program.reduces
    idle = dst >= cluster.ranks if cluster.local is not None else (dst >= cluster.ranks) | ~away
    if idle.any():
        reduces = reduces & ~idle[route]
    return Plan(
        size=program.size * program.scale[program.job] * slow[route] if fair else program.size,
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
        adding=(cluster.gamma if reduces.any() else 0.0) * added,
        enter=enter,
        held_ptr=held_ptr,
        held=packed,
        held_beta=held_beta if plain else held_beta * np.repeat(scale, np.diff(held_ptr)),
        lane_ptr=lane_ptr,
        dep_ptr=program.dep_ptr,
        dep=program.dep,
        # Without reductions it must not make the grid of time coarse.
        gamma=cluster.gamma if reduces.any() else 0.0,
        launch=cluster.launch,
    )


def _late(cluster: Cluster, src: IntArray, dst: IntArray) -> FloatArray:
    """Return the seconds until both ends of each pair have entered; switches always have."""
    if cluster.delay is None:
        return np.zeros(src.size)
    delay = np.concatenate([cluster.delay, np.zeros(cluster.nodes)])
    late: FloatArray = np.maximum(delay[src], delay[dst])
    return late


def _pairs(
    program: Program, ranks: int
) -> tuple[IntArray, IntArray, IntArray, NDArray[np.int32]]:
    """Return each job's distinct (src, dst), that job, and the pair of every operation."""
    # Of a folded schedule few ranks send.
    senders = int(program.src.max(initial=0)) + 1
    n, keys = program.src.size, program.scale.size * senders * ranks
    small = keys <= max(TABLE_UP_TO, 8 * n)
    if small and program.scale.size == 1 and n >= _LOADED_FROM and loaded():
        from collsim.engine import numbers_kernel

        found, pair = np.empty(min(n, keys), dtype=np.int64), np.empty(n, dtype=np.int32)
        senders_to, known = (np.full(senders, -1, dtype=np.int32) for _ in range(2))
        work = (senders_to, known, np.zeros(keys, dtype=np.int32), found, pair)
        both = found[: numbers_kernel.number(program.src, program.dst, ranks, *work)]
        return both // ranks, both % ranks, np.zeros(both.size, dtype=np.int64), pair
    key = (program.job.astype(np.int64) * senders + program.src) * ranks + program.dst
    if small:
        table = np.zeros(keys, dtype=np.int32)
        table[key] = 1
        distinct = np.flatnonzero(table)
        table[distinct] = np.arange(distinct.size)
        pair = table[key]
    else:
        distinct, inverse = np.unique(key, return_inverse=True)
        pair = inverse.astype(np.int32)
    job, both = np.divmod(distinct, senders * ranks)
    return both // ranks, both % ranks, job, pair


def routes_of(cluster: Cluster, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
    """Return the links of every pair; from a rank to itself its memory, or none.

    Parameters
    ----------
    cluster : Cluster
        Whose links; the switch of node k is number P + k.
    src, dst : int array, shape (k,)
        Senders and receivers.

    Returns
    -------
    ptr, link : int arrays
        Pair i crosses ``link[ptr[i]:ptr[i + 1]]``, in order.
    """
    beside = np.maximum(src, dst) >= cluster.ranks
    away = (src != dst) & ~beside
    if away.all():
        return cluster.router(src, dst)
    far_ptr, far = cluster.router(src[away], dst[away])
    counts = np.full(src.size, 0 if cluster.local is None else 1, dtype=np.int64)
    counts[away] = np.diff(far_ptr)
    counts[beside] = 1
    ptr = np.zeros(src.size + 1, dtype=np.int64)
    np.cumsum(counts, out=ptr[1:])
    link = np.empty(ptr[-1], dtype=np.int64)
    crosses = np.repeat(away, counts)
    link[crosses] = far
    if cluster.local is not None:
        own = ~away & ~beside
        link[np.repeat(own, counts)] = cluster.local[src[own]]
    if cluster.in_switch is not None and beside.any():
        up = beside & (src < cluster.ranks)
        down = beside & ~up
        link[np.repeat(up, counts)] = cluster.in_switch.up[src[up]]
        link[np.repeat(down, counts)] = cluster.in_switch.down[dst[down]]
    return ptr, link


def _port(
    port: Ports, end: IntArray, away: NDArray[np.bool_], base: int
) -> tuple[IntArray, IntArray, FloatArray]:
    owner = np.flatnonzero(away)
    return owner, base + end[away], np.full(owner.size, port.beta)
