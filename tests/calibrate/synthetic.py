"""Logs in nccl-tests' format, made from known parameters: no machine was measured.

Run as a program, it prints `examples/nccl_tests_all_reduce_8gpu.txt`:

    python tests/calibrate/synthetic.py > examples/nccl_tests_all_reduce_8gpu.txt
"""

from __future__ import annotations

import random
from collections.abc import Iterable

NEW = "{size:>12} {count:>13} {dtype:>9} {op:>7} {root:>7}"
FACTORS = {"all_reduce": 2.0, "broadcast": 0.0, "reduce": 0.0, "sendrecv": 0.0}
ITERS = "step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0"
BANDWIDTHS = f"{'(GB/s)':>8}" * 2
SWEEP = tuple(8 * 2**k for k in range(31))


def factor(collective: str, ranks: int) -> float:
    """Return the bus-bandwidth factor."""
    slope = FACTORS.get(collective, 1.0)
    return slope * (ranks - 1) / ranks if slope else 1.0


def seconds(
    collective: str, ranks: int, size: int, alpha: float, beta: float, launch: float = 0.0
) -> float:
    """Return the time of the ring algorithm."""
    steps = (2 if collective == "all_reduce" else 1) * (ranks - 1)
    share = size if collective in ("broadcast", "reduce") else size / ranks
    return launch + steps * (alpha + share * beta)


def number(value: float) -> str:
    """Write a time or a bandwidth as nccl-tests prints it."""
    for places in (2, 1, 0):
        text = f"{value:.{places}f}"
        if len(text) <= 7:
            return text
    return f"{value:.1e}"


def half(us: float, size: int, bus: float, wrong: str = "0") -> str:
    """Return time, algbw, busbw, #wrong."""
    algbw = size / us / 1e3
    return f" {number(us):>8} {number(algbw):>7} {number(algbw * bus):>7} {wrong:>6}"


def head(collective: str, ranks: int, hosts: int = 1, per_process: int = 1) -> list[str]:
    """Return the lines before the first row, as 2.17 and later print them."""
    lines = [
        "# nccl-tests version 2.17.6 nccl-headers=22602 nccl-library=22602",
        f"# Collective test starting: {collective.replace('all_to_all', 'alltoall')}_perf",
        f"# nThread 1 nGpus {per_process} minBytes 8 maxBytes 8589934592 {ITERS}",
        "#",
        "# Using devices",
    ]
    for rank in range(ranks):
        host = f"node-{chr(97 + rank * hosts // ranks)}"
        device = rank % (ranks // hosts)
        pid = 1000 + rank // per_process
        lines.append(
            f"#  Rank {rank:2d} Group  0 Pid {pid:6d} on {host:>10} device {device:2d} "
            f"[0000:{16 + device:02x}:00] Made-up GPU"
        )
    return [*lines, "#", *HEAD_OF_TABLE]


HEAD_OF_TABLE = (
    f"#{'out-of-place':>73}{'in-place':>31}          ",
    f"#{'size':>11}{'count':>14}{'type':>10}{'redop':>8}{'root':>8}"
    + f"{'time':>9}{'algbw':>8}{'busbw':>8}{'#wrong':>8}" * 2,
    f"#{'(B)':>11}{'(elements)':>14}{'(us)':>35}{BANDWIDTHS}{'(us)':>17}{BANDWIDTHS}",
)


def rows(
    collective: str,
    ranks: int,
    alpha: float,
    beta: float,
    launch: float = 0.0,
    noise: float = 0.0,
    seed: int = 0,
    sizes: Iterable[int] = SWEEP,
) -> list[str]:
    """Return rows of 2.13 and later; out of place and in place differ by noise only."""
    rng = random.Random(seed)
    reduces = collective in ("all_reduce", "reduce_scatter", "reduce")
    shared = collective in ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")
    rooted = collective in ("broadcast", "reduce", "gather", "scatter")
    found = []
    for size in sizes:
        left = NEW.format(
            size=size,
            count=size // 4 // (ranks if shared else 1),
            dtype="float",
            op="sum" if reduces else "none",
            root=0 if rooted else -1,
        )
        us = seconds(collective, ranks, size, alpha, beta, launch) * 1e6
        times = [us * (1 + noise * rng.gauss(0, 1)) for _ in range(2)]
        bus = factor(collective, ranks)
        in_place = "N/A" if collective == "all_to_all" else "0"
        found.append(left + half(times[0], size, bus) + half(times[1], size, bus, in_place))
    return found


def tail(collective: str) -> list[str]:
    """Return the lines after a table."""
    return [
        "# Out of bounds values : 0 OK",
        "# Avg bus bandwidth    : 100",
        "#",
        f"# Collective test concluded: {collective}_perf",
        "#",
    ]


def log(collective: str, ranks: int, *, hosts: int = 1, **how: float) -> str:
    """Return a whole log."""
    lines = rows(collective, ranks, **how)  # type: ignore[arg-type]
    lines = head(collective, ranks, hosts) + lines + tail(collective)
    return "\n".join(lines) + "\n"


def example() -> str:
    """Return the README's example."""
    alpha, beta = 1.5e-6, 2.7e-12
    said = "alpha = 1.5 us, bandwidth = 370.4 GB/s (beta = 2.7 ps/B), noise 1 %, seed 8"
    text = log("all_reduce", 8, alpha=alpha, beta=beta, noise=0.01, seed=8)
    return f"# synthetic: no machine was measured; ring all_reduce, {said}\n{text}"


if __name__ == "__main__":
    print(example(), end="")
