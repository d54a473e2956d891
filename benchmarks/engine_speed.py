"""How fast the event engine is, how much memory it takes, and how near that is to the limit.

    python benchmarks/engine_speed.py                  # a table
    python benchmarks/engine_speed.py --json           # a JSON object a line
    python benchmarks/engine_speed.py ring-1024 fair-10000 --runs 5

Every case runs in a process of its own, which uses the compiled loops once before anything
is timed. Times are CPU time, the median of all runs; the machine's memory decides the large
cases: a page that is touched for the first time costs more than what is written to it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

__all__ = ["CASES", "measured", "run"]

# Results of one case, by name.
Row = dict[str, Any]


def peak_megabytes() -> float:
    """Return the most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)


def ring(ranks: int) -> Row:
    """Build and simulate a ring all_reduce on the ideal network."""
    from collsim.core.cluster import Cluster

    return _collective(Cluster.ideal(ranks, "1us", "900GB/s"), "all_reduce", "ring")


def contended(preset: str, kind: str, algorithm: str, **options: Any) -> Row:
    """Do so on 64 nodes of 8 GPUs whose messages wait for each other's links."""
    from collsim.core.cluster import Cluster

    cluster = replace(Cluster.load(preset, nodes=64), sharing="fifo")
    return _collective(cluster, kind, algorithm, node=cluster.node, **options)


def fair(flows: int) -> Row:
    """Share the links of a fat tree of 1,024 GPUs among flows that begin at once.

    Between pairs of GPUs that are drawn at random, of 1 to 64 pieces each.
    """
    from collsim.core.builder import Builder
    from collsim.core.cluster import Cluster
    from collsim.core.collective import collective

    cluster = replace(Cluster.load("dgx-h100-fat-tree-2to1", nodes=128), sharing="fair")
    draw, ranks = np.random.default_rng(0), cluster.ranks
    src = draw.integers(0, ranks, flows)
    dst = (src + draw.integers(1, ranks, flows)) % ranks
    pieces = draw.integers(1, 65, flows)

    def build() -> Any:
        b = Builder(collective("all_gather"), ranks)
        b.next_round()
        # Every flow writes places of its own, so that none waits for another.
        places = np.split(b.scratch(int(pieces.sum())), np.cumsum(pieces)[:-1])
        for one, other, own in zip(src.tolist(), dst.tolist(), places, strict=True):
            b.copy(one, other, np.arange(own.size), into=own)
        return b.finish()

    return _timed(build, cluster)


def limit(messages: int) -> Row:
    """Read and write, in order, what the engine must of so many messages, and no more.

    A route and who waits in, a start, a finish and what was in the way out: 28 bytes.
    """
    from collsim.engine.jit import jit

    @jit
    def walk(route: Any, only: Any, start: Any, finish: Any, blocker: Any) -> None:
        for o in range(route.size):
            start[o] = route[o]
            finish[o] = only[o]
            blocker[o] = -1

    route, only, blocker = (np.zeros(messages, dtype=np.int32) for _ in range(3))
    start, finish = np.zeros(messages), np.zeros(messages)
    walk(route[:1], only[:1], start[:1], finish[:1], blocker[:1])
    took = []
    for _ in range(4):
        began = time.process_time()
        walk(route, only, start, finish, blocker)
        took.append(time.process_time() - began)
    # The first time is that of memory nobody has touched yet.
    touched = {"first_ns": took[0] / messages * 1e9, "again_ns": min(took) / messages * 1e9}
    return {"messages": messages, "bytes": 28, **touched}


def _collective(cluster: Any, kind: str, algorithm: str, **options: Any) -> Row:
    from collsim.algorithms import build

    return _timed(lambda: build(kind, algorithm, cluster.ranks, **options), cluster)


def _timed(build: Callable[[], Any], cluster: Any) -> Row:
    from collsim.engine.simulate import Simulation

    loaded = peak_megabytes()
    began, clock = time.process_time(), time.perf_counter()
    schedule = build()
    built = time.process_time()
    simulation = Simulation(schedule, cluster, compiled=True)
    ready = time.process_time()
    timeline = simulation.run(2**30)
    done, wall = time.process_time(), time.perf_counter() - clock
    n = len(schedule)
    return {
        "messages": n,
        "build_s": built - began,
        "simulate_s": done - built,
        "prepare_s": ready - built,
        "wall_s": wall,
        "ns_per_message": (done - began) / n * 1e9,
        "messages_per_s": n / (done - began),
        "simulated_per_s": n / (done - built),
        "peak_mb": peak_megabytes(),
        "loaded_mb": loaded,
        "makespan_us": timeline.makespan_us,
    }


def warm_up() -> None:
    """Use the compiled loops once; the first time ever, that compiles them."""
    from collsim.algorithms import build
    from collsim.core.cluster import Cluster
    from collsim.engine.simulation import Simulation, load

    load(fair_sharing=True)
    node = Cluster.load("dgx-h100", nodes=2)
    for kind, algorithm in (("all_reduce", "ring"), ("all_to_all", "direct")):
        schedule = build(kind, algorithm, 16, node=node.node)
        for sharing in ("fifo", "fair"):
            Simulation(schedule, replace(node, sharing=sharing), compiled=True).run(1)
    # Large enough that its dependencies are found by the compiled source.
    build("all_reduce", "ring", 64)
    build("all_to_all", "direct", 64)
    Simulation(build("all_reduce", "ring", 24), Cluster.ideal(24, 1e-6, 1e9)).run(1)


_FAT = "dgx-h100-fat-tree-2to1"
CASES: dict[str, Callable[[], Row]] = {
    "ring-1024": lambda: ring(1024),
    "ring-4096": lambda: ring(4096),
    "fat-tree-all_to_all": lambda: contended(_FAT, "all_to_all", "direct"),
    "fat-tree-ring-8": lambda: contended(_FAT, "all_reduce", "ring", channels=8),
    "fat-tree-trees": lambda: contended(_FAT, "all_reduce", "double_binary_tree", chunks=256),
    "rails-all_to_all": lambda: contended("dgx-h100", "all_to_all", "direct"),
    **{f"fair-{n}": lambda n=n: fair(n) for n in (1250, 2500, 5000, 10000)},  # type: ignore[misc]
    "limit": lambda: limit(2**22),
}


def run(name: str) -> Row:
    """Return the results of a case, from a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), "--one", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
    row: Row = json.loads(done.stdout)
    return row


def measured(names: list[str], runs: int) -> list[Row]:
    """Return the medians of all numbers of some cases."""
    rows = []
    for name in names:
        found = [run(name) for _ in range(runs)]
        medians = {key: statistics.median(row[key] for row in found) for key in found[0]}
        rows.append({"case": name, "runs": runs, **medians})
    return rows


def _line(row: Row) -> str:
    if "first_ns" in row:
        return (
            f"{row['case']:20} reading and writing {row['bytes']} bytes a message takes "
            f"{row['again_ns']:.1f} ns, {row['first_ns']:.1f} ns where memory is new"
        )
    return (
        f"{row['case']:20} {row['messages']:>10,.0f} {row['build_s']:>8.3f} "
        f"{row['simulate_s']:>10.3f} {row['ns_per_message']:>8.0f} "
        f"{row['messages_per_s'] / 1e6:>8.2f} {row['simulated_per_s'] / 1e6:>10.2f} "
        f"{row['peak_mb']:>8.0f}"
    )


def main() -> None:
    """Run cases, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--runs", type=int, default=3, help="of each case (default 3)")
    parser.add_argument("--json", action="store_true", help="print a JSON object a line")
    parser.add_argument("--one", choices=CASES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        warm_up()
        print(json.dumps(CASES[given.one]()))
        return
    for name in given.cases:
        if name not in CASES:
            parser.error(f"no case {name!r}, expected some of {', '.join(CASES)}")
    if not given.json:
        print(f"{platform.machine()}, Python {platform.python_version()}, CPU seconds")
        print(
            f"{'case':20} {'messages':>10} {'build s':>8} {'simulate s':>10} {'ns each':>8} "
            f"{'M/s':>8} {'sim. M/s':>10} {'peak MB':>8}"
        )
    for name in given.cases or CASES:
        for row in measured([name], given.runs):
            print(json.dumps(row) if given.json else _line(row), flush=True)


if __name__ == "__main__":
    main()
