"""A prediction on many ranks: prints one line of JSON.

    python benchmarks/speed/run_far.py --algorithm ring --nodes 8192

`seconds` has all that is done after the import: the cluster, the proof that few ranks stand
for all, the schedule, and the run.
"""

from __future__ import annotations

import argparse
import json
import time

from common import NBYTES, peak_kib

import collsim
from collsim.engine.simulation import load

CLUSTER = "dgx-h100"


def main() -> None:
    """Run once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--unfolded", action="store_true")
    given = parser.parse_args()
    load(fair_sharing=False)
    small = collsim.Cluster.load(CLUSTER, nodes=2)
    collsim.predict("all_reduce", small, NBYTES, given.algorithm, channels=1)
    began = time.process_time()
    cluster = collsim.Cluster.load(CLUSTER, nodes=given.nodes)
    answer = collsim.predict(
        "all_reduce", cluster, NBYTES, given.algorithm,
        channels=1, fold=not given.unfolded,
    )  # fmt: skip
    seconds = time.process_time() - began
    (row,) = answer.rows
    told = {
        "cluster": CLUSTER,
        "nodes": given.nodes,
        "ranks": answer.ranks,
        "algorithm": row.algorithm,
        "chunks": row.chunks,
        "time_us": row.time_us,
        "how": next(iter(answer.folded.values()), "all ranks simulated"),
        "seconds": seconds,
        "peak_kib": peak_kib(),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
