"""Is anybody faster than the policy says? Every variant, run at random sizes.

    python benchmarks/choose_guarantee.py [SIZES] [NAME ...]

For each cluster and collective it prints the time that ``choose`` took, how many sizes and
runs were tried, at how many sizes some variant (algorithm, options, chunks, channels) was
faster than the policy's algorithm is there, and by how much at most. Times closer than 1e-9
are equal, and 1e-5 where links are shared fairly. No bound is used: everything is run, but a
variant of many messages at fewer sizes.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from collsim.choose.candidates import Candidate, Variant
from collsim.choose.curves import curves
from collsim.choose.policy import Policy, choose
from collsim.core.cluster import Cluster
from collsim.engine.simulation import load
from collsim.errors import TooLargeError

COLLECTIVES = (
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "scatter", "gather",
    "all_to_all",
)  # fmt: skip
# Messages that one variant may take in all.
BUDGET = 20_000_000


def clusters() -> dict[str, Cluster]:
    """Return ideal, uncontended and contended clusters, fifo and fair."""
    return {
        "ideal-8": Cluster.ideal(8, alpha="10us", bandwidth="450GB/s"),
        "ideal-6": Cluster.ideal(6, alpha="1us", bandwidth="50GB/s", alpha_busy=0.0),
        "dgx-h100-1x8": Cluster.load("dgx-h100"),
        "dgx-h100-2x4": Cluster.load("dgx-h100", nodes=2, gpus_per_node=4),
        "dgx-h100-4x2": Cluster.load("dgx-h100", nodes=4, gpus_per_node=2),
        "fat-tree-4x2": Cluster.load("dgx-h100-fat-tree-2to1", nodes=4, gpus_per_node=2),
        "gh200-2x4": Cluster.load("gh200-slingshot", nodes=2),
        "pcie-8": Cluster.load("pcie-8"),
        "busy-13": Cluster.ideal(
            13, alpha="1us", bandwidth="450GB/s", alpha_busy=1e-6 / 3, launch="3us"
        ),
        "late-a100-1x8": late("dgx-a100", 7),
        "late-a100-2x5": late("dgx-a100", 7, nodes=2, gpus_per_node=5, gamma=1e-11),
        "late-fat-tree-4x2": late(
            "dgx-h100-fat-tree-2to1", 0, nodes=4, gpus_per_node=2, sharing="fifo"
        ),
        "late-efa-2x8": late("p5-efa", 4, nodes=2),
        "fat-tree-4x3": replace(
            Cluster.load("dgx-h100-fat-tree-2to1", nodes=4, gpus_per_node=3),
            sharing="fair",
            gamma=1e-11,
        ),
    }


def late(name: str, rank: int, nodes: int = 1, gpus_per_node: int = 8, **more: Any) -> Cluster:
    """Return a cluster where one rank is late by 30 microseconds."""
    cluster = Cluster.load(name, nodes=nodes, gpus_per_node=gpus_per_node)
    delay = np.zeros(cluster.ranks)
    delay[rank] = 30e-6
    return replace(cluster, delay=delay, **more)


@dataclass(frozen=True)
class Finding:
    """What came of one collective on one cluster."""

    sizes: int
    runs: int
    faster: tuple[tuple[int, str, float], ...]

    @property
    def worst(self) -> float:
        """By how much, as a share, the policy was slower at most."""
        return max((share for _, _, share in self.faster), default=0.0)


def sizes_in(policy: Policy, count: int, seed: int = 1) -> list[int]:
    """Return random sizes, as many in each doubling, and both sides of every border."""
    draw = random.Random(seed)  # noqa: S311 - sizes, no secrets
    low, high = max(1, policy.min_bytes), policy.max_bytes
    found = {round(low * (high / low) ** draw.random()) for _ in range(count)}
    return sorted(
        found | {row.min_bytes for row in policy.rows} | {row.max_bytes for row in policy.rows}
    )


def check(
    policy: Policy,
    cluster: Cluster,
    count: int,
    budget: int = BUDGET,
    most_chunks: int = 2**20,
) -> Finding:
    """Run everything at random sizes; return where something is faster than the policy."""
    tie = 1e-5 if cluster.sharing == "fair" else 1e-9
    found, _ = curves(policy.collective, cluster)
    candidates = {curve.name: Candidate(curve, i) for i, curve in enumerate(found)}
    sizes = sizes_in(policy, count)
    best = {n: candidates[policy.at(n).algorithm].fastest(n)[1] for n in sizes}
    least = {n: (seconds, policy.at(n).algorithm) for n, seconds in best.items()}
    runs = 0
    for candidate in candidates.values():
        for variant in (v for v in candidate.variants if v.chunks <= most_chunks):
            mine = [n for n in sizes if n >= variant.low]
            for n in mine[:: _step(variant, len(mine), budget)]:
                seconds = variant.seconds(n)
                runs += 1
                if variant.name == policy.at(n).algorithm:
                    # Its own best counts for the policy.
                    best[n] = min(best[n], seconds)
                if seconds < least[n][0]:
                    least[n] = seconds, f"{variant.name} {variant.chunks}x{variant.channels}"
    faster = tuple(
        (n, name, best[n] / seconds - 1)
        for n, (seconds, name) in least.items()
        if best[n] > seconds * (1 + tie)
    )
    return Finding(len(sizes), runs, faster)


def _step(variant: Variant, count: int, budget: int) -> int:
    if variant.candidate.formula:
        return 1
    try:
        messages = len(variant.candidate.simulation(variant.chunks, variant.channels).schedule)
    except TooLargeError:
        return count + 1
    return max(1, -(-messages * count // budget))


def main() -> None:
    """Print a line per cluster and collective."""
    words = sys.argv[1:]
    count = int(words.pop(0)) if words and words[0].isdigit() else 1000
    load(fair_sharing=True)
    for name, cluster in clusters().items():
        if words and name not in words:
            continue
        for collective in COLLECTIVES:
            start = time.perf_counter()
            policy = choose(collective, cluster)
            took = time.perf_counter() - start
            found = check(policy, cluster, count)
            print(
                f"{name:14} {collective:14} choose {took:5.2f} s  {len(policy.rows)} ranges  "
                f"{found.sizes} sizes  {found.runs} runs  faster at {len(found.faster)}, "
                f"by {found.worst:.1e} at most",
                flush=True,
            )
            for n, other, share in sorted(found.faster, key=lambda f: -f[2])[:3]:
                print(f"    at {n}: {other} by {share:.2e}, not {policy.at(n).algorithm}")


if __name__ == "__main__":
    main()
