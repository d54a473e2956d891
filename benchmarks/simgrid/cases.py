"""Clusters and schedules that SimGrid and collsim both run, and how SimGrid is told them.

What SimGrid gets is read off the cluster link by link, not off what the engine makes of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.link import LinkClass, Links
from collsim.core.schedule import Schedule
from collsim.engine.simulate import simulate
from collsim.topology.switch import switch

__all__ = ["Case", "cases", "finish", "told"]

IntArray = NDArray[np.int64]
Route = Callable[[int, int], list[int]]

RANDOM_SETS = 200
SCHEDULES = (
    ("all_gather", "ring"),
    ("all_reduce", "mst"),
    ("all_to_all", "ring"),
)


@dataclass(frozen=True)
class Case:
    """One schedule on one cluster at one size."""

    name: str
    schedule: Schedule
    cluster: Cluster
    nbytes: float


@dataclass(frozen=True)
class Routes:
    """A route for every pair, by a function."""

    route: Route

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        """Return the routes of some pairs."""
        found = [self.route(s, d) for s, d in zip(src.tolist(), dst.tolist(), strict=True)]
        ptr = np.cumsum([0, *(len(route) for route in found)], dtype=np.int64)
        return ptr, np.array([link for route in found for link in route], dtype=np.int64)


# Of some links: how many, alpha, bandwidth, lanes.
Bundle = tuple[int, float, float, int]


def cluster_of(name: str, ranks: int, bundles: list[Bundle], route: Route) -> Cluster:
    """Return a cluster under fair sharing."""
    counts = [count for count, *_ in bundles]
    alpha, bandwidth, lanes = (
        np.repeat([bundle[i] for bundle in bundles], counts) for i in (1, 2, 3)
    )
    links = Links(
        names=tuple(f"{b}[{i}]" for b, count in enumerate(counts) for i in range(count)),
        classes=(LinkClass("drawn", 1e-6, 1e9),),
        kind=np.zeros(sum(counts), dtype=np.int64),
        alpha=alpha,
        beta=1 / bandwidth,
        busy=np.zeros(sum(counts)),
        lanes=lanes,
    )
    return Cluster(
        name=name,
        ranks=ranks,
        links=links,
        router=Routes(route),
        least_alpha=0.0,
        least_busy=0.0,
        node=np.zeros(ranks, dtype=np.int64),
        sharing="fair",
    )


def star() -> Cluster:
    """Return 8 GPUs on a switch."""
    wire = LinkClass("wire", alpha=2e-6, bandwidth=450e9)
    return replace(switch(8, wire, "star of 8"), sharing="fair", uniform=None)


def two_level() -> Cluster:
    """Return 4 nodes of 8 GPUs on a switch each, where two GPUs share one NIC."""
    ranks, nics = 32, 16

    def route(src: int, dst: int) -> list[int]:
        if src // 8 == dst // 8:
            return [src, ranks + dst]
        nic = 2 * ranks
        return [src, nic + src // 2, nic + nics + dst // 2, ranks + dst]

    bundles = [(32, 1e-6, 450e9, 1), (32, 0.0, 450e9, 1), (16, 4e-6, 50e9, 1), (16, 0, 50e9, 1)]
    return cluster_of("4 x 8, two GPUs to a NIC", ranks, bundles, route)


def fat_tree() -> Cluster:
    """Return 4 leaves of 8 GPUs with trunks of 4 lanes up and down: 2:1."""

    def route(src: int, dst: int) -> list[int]:
        up, down = [src], [32 + dst]
        if src // 8 == dst // 8:
            return up + down
        return [*up, 64 + src // 8, 68 + dst // 8, *down]

    bundles = [(32, 3e-6, 50e9, 1), (32, 0.0, 50e9, 1), (4, 1e-6, 50e9, 4), (4, 0.0, 50e9, 4)]
    return cluster_of("fat tree 2:1, 4 x 8", 32, bundles, route)


def random_set(seed: int) -> Case:
    """Return random flows over random routes; some wait for the data of others."""
    rng = random.Random(seed)  # noqa: S311 - drawn to be repeated

    def draw(low: int, high: int) -> int:
        # Only `random` is the same in every version of Python.
        return low + int(rng.random() * (high + 1 - low))

    ranks, count = draw(2, 8), draw(2, 10)
    bundles: list[Bundle] = [
        (1, 1e-5 * rng.random(), 1e9 * (1 + 9 * rng.random()), draw(1, 3)) for _ in range(count)
    ]
    drawn = {
        (s, d): sorted({draw(0, count - 1) for _ in range(draw(1, 4))})
        for s in range(ranks)
        for d in range(ranks)
    }
    cluster = cluster_of(f"random {seed}", ranks, bundles, lambda s, d: drawn[s, d])
    b = Builder(collective("all_reduce"), ranks, parts=64)
    for _ in range(draw(3, 20)):
        src = draw(0, ranks - 1)
        first = draw(0, 55)
        b.next_round()
        dst = (src + draw(1, ranks - 1)) % ranks
        b.copy(src, dst, range(first, first + draw(1, 8)))
    return Case(cluster.name, b.finish(), cluster, 64.0 * draw(100_000, 1_000_000))


def cases() -> Iterator[Case]:
    """Return all cases."""
    for cluster, nbytes in ((star(), 64e6), (two_level(), 64e6), (fat_tree(), 64e6)):
        for kind, algorithm in SCHEDULES:
            schedule = build(kind, algorithm, cluster.ranks)
            yield Case(f"{cluster.name}: {kind} {algorithm}", schedule, cluster, nbytes)
    for seed in range(RANDOM_SETS):
        yield random_set(seed)


def told(case: Case) -> dict[str, Any]:
    """Return a case as the script that runs SimGrid reads it."""
    links = case.cluster.links
    flows = []
    for o in range(len(case.schedule)):
        src, dst = int(case.schedule.src[o]), int(case.schedule.dst[o])
        route = list(case.cluster.route(src, dst))
        flows.append(
            {
                "links": route,
                "alpha": float(links.alpha[route].sum()),
                # SimGrid wants whole bytes, and sizes here are such.
                "bytes": round(float(case.schedule.fraction[o]) * case.nbytes),
                "rate": float(1 / links.beta[route].max()),
                "waits": case.schedule.waits_for(o).tolist(),
            }
        )
    return {
        "name": case.name,
        "links": (links.lanes / links.beta).tolist(),
        "flows": flows,
    }


def finish(case: Case) -> NDArray[np.float64]:
    """Return collsim's completion times."""
    return simulate(case.schedule, case.cluster, case.nbytes).finish
