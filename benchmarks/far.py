"""How far predictions go: a hundred thousand GPUs, each case in a process of its own.

    python benchmarks/far.py [--json] [WORD...]

Words choose the cases that have all of them in their name. Times are of the processor, after
compilation: `build` is the proof that few ranks stand for all, the schedule and its routes;
`simulate` one run at 1 GiB; `predict` a whole prediction with chunks and channels left free,
the schedule of each number that is tried included. Loading the cluster is a column of its own,
and memory is the largest that either process ever held.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

NBYTES = 2.0**30
CLUSTER = "dgx-h100"

# Collective, algorithm, nodes of 8 GPUs, chunks, channels.
CASES = (
    ("all_reduce", "ring", 8192, 1, 1),
    ("all_reduce", "ring", 8192, 1, 8),
    ("reduce_scatter", "ring", 8192, 1, 1),
    ("all_gather", "bruck", 8192, 1, 1),
    ("all_reduce", "recursive_doubling", 16384, 1, 1),
    ("all_reduce", "halving_doubling", 16384, 1, 1),
    ("all_reduce", "hierarchical", 16384, 4, 1),
    ("all_to_all", "ring", 1024, 1, 1),
    ("all_to_all", "pairwise", 1024, 1, 1),
    ("broadcast", "mst", 16384, 1, 1),
    ("reduce", "mst", 16384, 1, 1),
    ("all_reduce", "mst", 16384, 1, 1),
    ("broadcast", "double_binary_tree", 16384, 8, 1),
    ("reduce", "double_binary_tree", 16384, 8, 1),
    ("all_reduce", "double_binary_tree", 16384, 8, 1),
    ("all_reduce", "nvls_tree", 16384, 1, 1),
    ("broadcast", "hierarchical", 16384, 1, 1),
    ("reduce", "hierarchical", 16384, 1, 1),
)
HEADS = (
    "case", "ranks", "simulated", "stood for", "cluster s", "build s", "simulate s",
    "predict s", "peak MB",
)  # fmt: skip


def one(number: int, whole: bool) -> dict[str, object]:
    """Run one case in this process: its parts, or the whole prediction."""
    from collsim import Cluster, predict
    from collsim.choose.curve import Curve
    from collsim.engine.fold import compiled  # noqa: F401 - loaded, so that it is not timed
    from collsim.engine.simulation import load

    kind, name, nodes, chunks, channels = CASES[number]
    load(fair_sharing=False)
    small = Curve(kind, name, Cluster.load(CLUSTER, nodes=128), chunks=chunks, fold=True)
    small.at(NBYTES)
    began = time.process_time()
    cluster = Cluster.load(CLUSTER, nodes=nodes)
    loaded = time.process_time()
    found: dict[str, object] = {"cluster_s": loaded - began}
    if whole:
        (row,) = predict(kind, cluster, NBYTES, name).rows
        found["predict_s"] = time.process_time() - loaded
        found |= {"chunks": row.chunks, "channels": row.channels, "time_us": row.time_us}
    else:
        free = Curve(kind, name, cluster)
        curve = Curve(
            kind, name, cluster,
            chunks=chunks, channels=channels if free.algorithm.channeled else "auto",
        )  # fmt: skip
        began = time.process_time()
        simulation = curve.simulation(chunks, channels)
        built = time.process_time()
        simulation.timed(NBYTES)
        found |= {"build_s": built - began, "simulate_s": time.process_time() - built}
        folded = getattr(simulation, "folded", None)
        found["simulated"] = len(simulation.schedule)
        found["stood_for"] = len(simulation.schedule) if folded is None else folded.operations
    found["peak_kb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found


def told(number: int) -> dict[str, object]:
    """Run one case in two processes, and return what both found."""
    kind, name, nodes, chunks, channels = CASES[number]
    found: dict[str, object] = {}
    peaks = []
    for part in ("--part", "--whole"):
        command = [sys.executable, __file__, part, str(number)]
        answer = subprocess.run(  # noqa: S603 - this very file
            command, check=True, capture_output=True, text=True
        )
        found |= json.loads(answer.stdout)
        peaks.append(found["peak_kb"])
    how = f", {chunks} chunks" * (chunks > 1) + f", {channels} channels" * (channels > 1)
    return {
        "case": f"{kind} {name}{how}",
        "ranks": nodes * 8,
        **found,
        "peak_mb": max(peaks) / 1024,  # type: ignore[type-var]
    }


def main() -> None:
    """Run all cases, or one of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json", action="store_true", help="a line for each case")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--whole", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part is not None or given.whole is not None:
        whole = given.whole is not None
        print(json.dumps(one(given.whole if whole else given.part, whole)))
        return
    shape = "{:<46}{:>8}{:>12}{:>18}" + "{:>11}" * 5
    if not given.json:
        print(shape.format(*HEADS))
    for number, case in enumerate(CASES):
        if not all(word in " ".join(map(str, case)) for word in given.words):
            continue
        row = told(number)
        if given.json:
            print(json.dumps(row), flush=True)
            continue
        seconds = [
            f"{row[key]:.2f}" for key in ("cluster_s", "build_s", "simulate_s", "predict_s")
        ]
        counts = [f"{row[key]:,}" for key in ("ranks", "simulated", "stood_for")]
        line = shape.format(row["case"], *counts, *seconds, f"{row['peak_mb']:.0f}")
        print(line, flush=True)


if __name__ == "__main__":
    main()
