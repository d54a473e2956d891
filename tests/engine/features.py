"""What a drawn case has in it, so that a suite can count that nothing is left out."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from types import ModuleType
from typing import Any

# All that `of_cluster`, `of_messages` and `of_times` return of a program alone.
ALONE = frozenset(
    {
        "egress ports",
        "ingress ports",
        "no ports",
        "ports of several lanes",
        "gamma",
        "launch",
        "late ranks",
        "memory links",
        "switches",
        "switches below the bandwidth",
        "one rank",
        "no bytes at all",
        "no messages",
        "a route of several links",
        "a link of several routes",
        "several lanes",
        "a link without limit",
        "holds for none of its alpha",
        "holds for a part of its alpha",
        "holds for all of its alpha",
        "a message of no bytes among others",
        "a message to itself that is free",
        "a message to itself over memory",
        "a message up to a switch",
        "a message down from a switch",
        "a switch that adds up",
        "a rank that adds up what a switch sends",
        "a turn",
        "a strict turn",
        "a wait for several",
        "reductions that wait for nobody's",
        "a start that is held up",
        "reductions that arrive at once",
        "a reduction that waits for another",
        "a tie that the index decides",
    }
)
# And of several jobs at once.
TOGETHER = ALONE - {"no messages", "no bytes at all"} | {
    "jobs that share a link or port",
    "jobs that share a rank",
    "a job that starts later",
    "a job of no bytes beside another",
    "jobs whose pieces differ",
}


def of_cluster(cluster: Any) -> set[str]:
    """Return what a cluster has, whether or not messages use it."""
    ports = [port for port in (cluster.egress, cluster.ingress) if port is not None]
    inside = cluster.in_switch
    found = {
        "egress ports": cluster.egress is not None,
        "ingress ports": cluster.ingress is not None,
        "no ports": not ports,
        "ports of several lanes": any(port.lanes > 1 for port in ports),
        "gamma": cluster.gamma > 0,
        "launch": cluster.launch > 0,
        "late ranks": cluster.delay is not None and bool(cluster.delay.any()),
        "memory links": cluster.local is not None,
        "switches": inside is not None,
        "switches below the bandwidth": inside is not None and inside.efficiency < 1,
        "one rank": cluster.ranks == 1,
    }
    return {name for name, has in found.items() if has}


def of_messages(oracle: ModuleType, messages: list[Any], ranks: int) -> set[str]:
    """Return what the messages of a program do."""
    if not messages:
        return {"no messages"}
    routes = {(m.src, m.dst): [w for w in m.ways if w.key[0] == "link"] for m in messages}
    ways = [way for route in routes.values() for way in route]
    used = Counter(way.key for way in ways)
    before = oracle.waits(messages)
    down = [m for m in messages if m.src >= ranks]
    up = [m for m in messages if m.dst >= ranks]
    alone = [m for m in messages if m.src == m.dst]
    both_reduce = [
        (i, j)
        for j, second in enumerate(messages)
        for i, first in enumerate(messages[:j])
        if first.reduces and second.reduces and first.writes & second.writes
    ]
    found = {
        "no bytes at all": not any(m.size for m in messages),
        "a route of several links": any(len(route) > 1 for route in routes.values()),
        "a link of several routes": max(used.values(), default=0) > 1,
        "several lanes": any(way.lanes > 1 for way in ways),
        "a link without limit": any(way.lanes == 0 for way in ways),
        "holds for none of its alpha": any(way.alpha > way.busy == 0 for way in ways),
        "holds for a part of its alpha": any(way.alpha > way.busy > 0 for way in ways),
        "holds for all of its alpha": any(way.alpha == way.busy > 0 for way in ways),
        "a message of no bytes among others": {bool(m.size) for m in messages} == {True, False},
        "a message to itself that is free": any(not m.ways for m in alone),
        "a message to itself over memory": any(m.ways for m in alone),
        "a message up to a switch": bool(up),
        "a message down from a switch": bool(down),
        "a switch that adds up": any(m.reduces for m in up),
        "a rank that adds up what a switch sends": any(m.adds for m in down),
        "a turn": any(m.queue is not None for m in messages),
        "a strict turn": any(m.strict for m in messages),
        "a wait for several": any(len(one) > 1 for one in before),
        "reductions that wait for nobody's": any(i not in before[j] for i, j in both_reduce),
    }
    return {name for name, has in found.items() if has}


def of_times(oracle: ModuleType, messages: list[Any], cluster: Any) -> set[str]:
    """Return what happens when a program runs, first come, first served."""
    gamma, launch = Fraction(cluster.gamma), Fraction(cluster.launch)
    start, finish = oracle.timeline(messages, gamma, launch)
    before = oracle.waits(messages)
    ready = [
        max([launch + m.entered, *(finish[i] for i in before[j])])
        for j, m in enumerate(messages)
    ]
    arrivals: list[tuple[int, Fraction]] = []
    waited = False
    for j, m in enumerate(messages):
        if m.adds and gamma and m.ways:
            alpha = sum((way.alpha for way in m.ways), Fraction(0))
            there = start[j] + alpha + m.passing * max(way.beta for way in m.ways)
            arrivals.append((m.dst, there))
            waited |= finish[j] > there + m.size * gamma
    backwards = oracle.timeline(
        messages, gamma, launch, lambda turn: (turn[0], turn[1] != "arrives", -turn[2])
    )
    found = {
        "a start that is held up": any(s > r for s, r in zip(start, ready, strict=True)),
        "reductions that arrive at once": max(Counter(arrivals).values(), default=0) > 1,
        "a reduction that waits for another": waited,
        "a tie that the index decides": backwards != (start, finish),
    }
    return {name for name, has in found.items() if has}


def of_jobs(several: Any) -> set[str]:
    """Return what several jobs have with one another."""
    jobs, groups = several.jobs, [set(job.ranks.tolist()) for job in several.jobs]
    held = [
        {way.key for at in places for way in several.messages[at].ways if way.lanes}
        for places in several.places
    ]
    pairs = [(i, j) for j in range(len(jobs)) for i in range(j)]
    pieces = {job.nbytes * job.schedule.piece_share for job in jobs}
    found = {
        "jobs that share a link or port": any(held[i] & held[j] for i, j in pairs),
        "jobs that share a rank": any(groups[i] & groups[j] for i, j in pairs),
        "a job that starts later": any(job.start > 0 for job in jobs),
        "a job of no bytes beside another": 0 in pieces and pieces != {0.0},
        "jobs whose pieces differ": len(pieces - {0.0}) > 1,
    }
    return {name for name, has in found.items() if has}


def of(oracle: ModuleType, messages: list[Any], cluster: Any) -> set[str]:
    """Return all that messages on a cluster have in them."""
    return (
        of_cluster(cluster)
        | of_messages(oracle, messages, cluster.ranks)
        | of_times(oracle, messages, cluster)
    )
