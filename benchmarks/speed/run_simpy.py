"""Ring all_reduce as a SimPy model: prints one line of JSON.

    python benchmarks/speed/run_simpy.py --ranks 64

Every rank is a process. In each of 2 (P - 1) steps it takes its own way out and the way in of
its right neighbour, holds both for alpha + n / P / bandwidth, and waits for what its left
neighbour has sent. The model is as small as one is that knows of ports.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any

import simpy
from common import ALPHA, BANDWIDTH, NBYTES, peak_kib, ranks_asked


def ring(ranks: int) -> float:
    """Return the seconds that a ring all_reduce takes in simulated time."""
    env = simpy.Environment()
    way_out = [simpy.Resource(env) for _ in range(ranks)]
    way_in = [simpy.Resource(env) for _ in range(ranks)]
    arrived = [simpy.Store(env) for _ in range(ranks)]
    takes = ALPHA + NBYTES / ranks / BANDWIDTH

    def rank(me: int) -> Generator[Any, Any, None]:
        right = (me + 1) % ranks
        for step in range(2 * (ranks - 1)):
            with way_out[me].request() as mine, way_in[right].request() as theirs:
                yield mine
                yield theirs
                yield env.timeout(takes)
            arrived[right].put(step)
            yield arrived[me].get()

    for me in range(ranks):
        env.process(rank(me))
    env.run()
    return float(env.now)


def main() -> None:
    """Run once, after a small one that loads what is needed."""
    ranks = ranks_asked()
    ring(3)
    began = time.process_time()
    makespan = ring(ranks)
    told = {
        "makespan": makespan,
        "seconds": time.process_time() - began,
        "peak_kib": peak_kib(),
        "version": simpy.__version__,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
