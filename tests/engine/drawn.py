"""Random programs on random clusters, as the engine takes them and as the oracles do."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.core.builder import Builder
from collsim.core.cluster import Cluster, Ports
from collsim.core.collective import collective
from collsim.core.link import LinkClass, Links
from collsim.core.schedule import Schedule

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Routes:
    """Routes that were drawn at random, by ordered pair."""

    drawn: dict[tuple[int, int], list[int]]

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        """Return the routes of some pairs."""
        routes = [self.drawn[pair] for pair in zip(src.tolist(), dst.tolist(), strict=True)]
        ptr = np.cumsum([0, *(len(route) for route in routes)], dtype=np.int64)
        return ptr, np.array([link for route in routes for link in route], dtype=np.int64)


@dataclass(frozen=True)
class Case:
    """One program on one cluster, as the engine takes it and as the oracle does."""

    schedule: Schedule
    cluster: Cluster
    nbytes: float
    messages: list[Any]


def quarters(rng: random.Random) -> float:
    """Return 0 to 2 in steps of a quarter: sums are exact, and ties are frequent and real."""
    return rng.randrange(9) / 4


def continuous(rng: random.Random) -> float:
    """Return 0, or a number that no other sum of such numbers equals."""
    return rng.choice((0.0, rng.uniform(0.1, 2), rng.uniform(0.1, 2)))


def draw_cluster(rng: random.Random, number: Callable[[random.Random], float]) -> Cluster:
    """Return random links, lanes, ports and routes."""
    ranks, count = rng.randint(1, 5), rng.randint(1, 9)
    alpha = [number(rng) for _ in range(count)]
    kind = LinkClass("drawn", 1.0, 1.0)
    ports = [
        Ports(number(rng), rng.choice((1, 1, 2, 3))) if rng.random() < 0.6 else None
        for _ in range(2)
    ]
    drawn = {
        (s, d): rng.sample(range(count), rng.randint(1, min(4, count)))
        for s in range(ranks)
        for d in range(ranks)
        if s != d
    }
    late = rng.random() < 0.3
    memory = rng.random() < 0.3
    return Cluster(
        name="drawn",
        ranks=ranks,
        links=Links(
            names=tuple(f"link{i}" for i in range(count)),
            classes=(kind,),
            kind=np.zeros(count, dtype=np.int64),
            alpha=np.array(alpha),
            beta=np.array([number(rng) for _ in range(count)]),
            busy=np.array([a * rng.choice((0.0, 0.5, 1.0)) for a in alpha]),
            lanes=np.array([rng.choice((0, 1, 1, 1, 2, 3)) for _ in range(count)]),
        ),
        router=Routes(drawn),
        least_alpha=0.0,
        least_busy=0.0,
        node=np.zeros(ranks, dtype=np.int64),
        egress=ports[0],
        ingress=ports[1],
        gamma=rng.choice((0.0, number(rng))),
        launch=rng.choice((0.0, number(rng))),
        delay=np.array([number(rng) for _ in range(ranks)]) if late else None,
        local=np.array([rng.randrange(count) for _ in range(ranks)]) if memory else None,
    )


def ways(oracle: ModuleType, cluster: Cluster, src: int, dst: int) -> tuple[Any, ...]:
    """Return what a message holds, read off the cluster link by link."""
    links = cluster.links
    route = cluster.router.drawn.get((src, dst), [])  # type: ignore[attr-defined]
    if src == dst and cluster.local is not None:
        route = [int(cluster.local[src])]
    found = [
        oracle.Way(
            ("link", i),
            *(Fraction(float(column[i])) for column in (links.alpha, links.busy, links.beta)),
            int(links.lanes[i]),
        )
        for i in route
    ]
    if src == dst:
        return tuple(found)
    for name, port, rank in (("out", cluster.egress, src), ("in", cluster.ingress, dst)):
        if port is not None:
            zero = Fraction(0)
            found.append(oracle.Way((name, rank), zero, zero, Fraction(port.beta), port.lanes))
    return tuple(found)


def entered(cluster: Cluster, *ranks: int) -> Fraction:
    """Return when the last of some ranks has entered, from the launch on."""
    if cluster.delay is None:
        return Fraction(0)
    return max(Fraction(float(cluster.delay[rank])) for rank in ranks)


def draw(oracle: ModuleType, seed: int, number: Callable[[random.Random], float]) -> Case:
    """Return a random program on a random cluster."""
    rng = random.Random(seed)
    cluster = draw_cluster(rng, number)
    parts = rng.choice((1, 2, 4))
    nbytes = 4 * number(rng) if rng.random() < 0.9 else 0.0
    builder = Builder(collective("all_reduce"), cluster.ranks, parts=parts)
    places = [*range(parts), *builder.scratch(rng.randint(0, 2)).tolist()]
    messages = []
    for _ in range(rng.randint(0, 25)):
        src, dst = rng.randrange(cluster.ranks), rng.randrange(cluster.ranks)
        width = rng.randint(1, len(places))
        read, written = rng.sample(places, width), rng.sample(places, width)
        reduces = rng.random() < 0.5
        builder.next_round()
        (builder.reduce if reduces else builder.copy)(src, dst, read, into=written)
        messages.append(
            oracle.Message(
                src=src,
                dst=dst,
                size=Fraction(nbytes) * width / parts,
                reduces=reduces,
                reads=frozenset((src, place) for place in read),
                writes=frozenset((dst, place) for place in written),
                ways=ways(oracle, cluster, src, dst),
                entered=entered(cluster, src, dst),
            )
        )
    return Case(builder.finish(), cluster, nbytes, messages)
