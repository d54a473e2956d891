"""How fast a large ring all_reduce is built and simulated.

    python benchmarks/ring_all_reduce.py [--ranks 1024]

A small one comes first, which loads (and, the first time, compiles) what is needed; it is
not counted. The tests assert what is done, not how fast; this prints how fast.
"""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import time

import numba
import numpy as np

from collsim.algorithms import build
from collsim.core import dependencies
from collsim.core.cluster import Cluster
from collsim.engine.simulate import Simulation


def warm_up() -> None:
    """Use the compiled loops once."""
    small = dependencies.COMPILE_FROM
    try:
        dependencies.COMPILE_FROM = 0  # type: ignore[misc]
        schedule = build("all_reduce", "ring", 3)
    finally:
        dependencies.COMPILE_FROM = small  # type: ignore[misc]
    Simulation(schedule, Cluster.ideal(3, "1us", "900GB/s"), compiled=True).run(1)


def peak_megabytes() -> float:
    """Return the most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Time one build and one simulation."""
    parser = argparse.ArgumentParser(description="Time a ring all_reduce of 1 GiB.")
    parser.add_argument("--ranks", type=int, default=1024, help="rank count (default 1024)")
    ranks = parser.parse_args().ranks
    before = time.perf_counter()
    warm_up()
    ready = time.perf_counter()
    loaded = peak_megabytes()
    cluster = Cluster.ideal(ranks, "1us", "900GB/s")
    began = time.perf_counter()
    schedule = build("all_reduce", "ring", ranks)
    built = time.perf_counter()
    timeline = Simulation(schedule, cluster, compiled=True).run(2**30)
    done = time.perf_counter()
    print(f"ring all_reduce  {ranks} ranks, 1 GiB, alpha 1 us, 900 GB/s")
    print(f"predicted        {timeline.makespan_us:.3f} us")
    print(f"messages         {len(schedule):,}, {schedule.dep.size:,} dependencies")
    print(f"load             {ready - before:.3f} s (the first time: compile)")
    print(f"build            {built - began:.3f} s")
    print(f"simulate         {done - built:.3f} s")
    speed = len(schedule) / (done - began)
    print(f"together         {done - began:.3f} s, {speed:,.0f} messages per second")
    print(f"peak memory      {peak_megabytes():.0f} MB, {loaded:.0f} MB of it once loaded")
    print(
        f"versions         Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}, {platform.machine()}"
    )


if __name__ == "__main__":
    main()
