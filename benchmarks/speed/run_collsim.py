"""Ring all_reduce on collsim, every message simulated: prints one line of JSON.

    python benchmarks/speed/run_collsim.py --ranks 64

A smaller one comes first, which loads the compiled loops (and, the first time, compiles
them). What is counted is the schedule's build and one run.
"""

from __future__ import annotations

import json
import platform
import time

import numba
import numpy as np
from common import ALPHA, BANDWIDTH, NBYTES, peak_kib, ranks_asked

import collsim
from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.engine.simulate import Simulation
from collsim.engine.simulation import load

# So many that the compiled loops are loaded for the build, too.
_WARM: int = 400


def ring(ranks: int) -> tuple[float, int, float, float]:
    """Return the simulated seconds, the messages, and the seconds of build and of run."""
    cluster = Cluster.ideal(ranks, ALPHA, BANDWIDTH)
    began = time.process_time()
    schedule = build("all_reduce", "ring", ranks)
    built = time.process_time()
    seconds = Simulation(schedule, cluster, compiled=True).makespan(NBYTES)
    return seconds, len(schedule), built - began, time.process_time() - built


def main() -> None:
    """Run once."""
    ranks = ranks_asked()
    load(fair_sharing=False)
    ring(_WARM)
    loaded = peak_kib()
    makespan, messages, build_seconds, run_seconds = ring(ranks)
    told = {
        "makespan": makespan,
        "messages": messages,
        "seconds": build_seconds + run_seconds,
        "build": build_seconds,
        "peak_kib": peak_kib(),
        "loaded_kib": loaded,
        "version": collsim.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
