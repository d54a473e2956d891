"""Predict MST and ring from messages between pairs alone, and measure them, on Gloo ranks.

    python benchmarks/measured_schedules.py [RANKS]

Prints how far predictions are off, by algorithm and by size. Needs torch; as root the ranks
run before everything else on the machine, so that other programs do not show.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict

import numpy as np

from collsim.calibrate.point_to_point.against import compare
from collsim.calibrate.point_to_point.cores import shared_cores
from collsim.calibrate.point_to_point.fit import fit_point_to_point
from collsim.core.measurements_file import read_rows
from collsim.measure.job import PATTERNS, Job
from collsim.measure.launch import own_ranks
from collsim.measure.sampling import How
from collsim.report.point_to_point_text import point_text
from collsim.units import format_size

SIZES = tuple(64 * 4**k for k in range(9))
COLLECTIVES = ("broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce")


def main() -> None:
    """Measure, fit, compare and print."""
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.jsonl")
        what = (*PATTERNS, *COLLECTIVES)
        job = Job(
            "gloo", what, SIZES, ("mst", "ring"), how=How(budget=0.5), path=path,
            realtime=os.geteuid() == 0,
        )  # fmt: skip
        own_ranks(job, ranks)
        rows = read_rows(path)
    found = fit_point_to_point(rows)
    pairs = compare(rows, shared_cores(found, ranks))
    print(point_text(found, pairs, []))
    off: defaultdict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        error = abs(1 / pair.ratio - 1)
        off[f"{pair.row['collective']}/{pair.row['algorithm']}"].append(error)
        off[format_size(pair.row["size"])].append(error)
    for name, errors in off.items():
        print(f"{name:>24}  median {np.median(errors):6.1%}  largest {max(errors):6.1%}")


if __name__ == "__main__":
    main()
