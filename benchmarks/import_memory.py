"""Read a log of 1 GB and print the peak of memory: it must stay within 200 MB.

    python benchmarks/import_memory.py [GIGABYTES] [quiet|rows]

`quiet` (the default) is what such logs are: runs of nccl-tests with all that NCCL_DEBUG=INFO
prints between the rows. `rows` has nothing but rows, which are then read one at a time with
`stream_log`, because a list of ten million rows is larger than the log.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log, stream_log
from collsim.core.measurements import Measurement

LOG = Path(__file__).resolve().parent.parent / "examples" / "nccl_tests_all_reduce_8gpu.txt"
MESSAGES = 20_000
LIMIT = 200  # MB
TREES = "Trees [0] -1/-1/-1->1->0 [1] -1/-1/-1->1->0 [2] -1/-1/-1->1->0 [3] -1/-1/-1->1->0"


def quiet_run(number: int) -> str:
    """Return one run whose rows are far apart."""
    lines = LOG.read_text("utf-8").splitlines(keepends=True)
    host = f"node-{number % 8}:{number}:{number}"
    message = f"{host} [0] NCCL INFO {TREES}\n"
    chosen = f"{host} [0] NCCL INFO AllReduce: {{}} Bytes -> Algo RING proto LL channel\n"
    parts = []
    for line in lines:
        if line.startswith(" "):
            parts.append(message * (MESSAGES // 31) + chosen.format(line.split()[0]) * 25)
        parts.append(line)
    return "".join(parts)


def generate(path: Path, gigabytes: float, rows_only: bool) -> int:
    """Write the log and return its size."""
    text = LOG.read_text("utf-8")
    size, number = 0, 0
    with path.open("w", encoding="utf-8") as file:
        while size < gigabytes * 1e9:
            size += file.write(text if rows_only else quiet_run(number))
            number += 1
    return size


def main() -> int:
    """Generate, read, print."""
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rows_only = sys.argv[2:] == ["rows"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.log"
        size = generate(path, gigabytes, rows_only)
        start = time.perf_counter()
        if rows_only:
            rows = sum(isinstance(one, Measurement) for one in stream_log(path, ReadOptions()))
        else:
            rows = len(read_log(path))
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{size / 1e9:.2f} GB, {rows} rows in {seconds:.0f} s, peak of memory {peak:.0f} MB")
    return 0 if peak <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
