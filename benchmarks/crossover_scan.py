"""Compare `collsim.crossover` with a dense scan of the true times on random pairs.

    python benchmarks/crossover_scan.py [PAIRS] [POINTS]

Each pair of algorithms runs on a random cluster. The scan takes every chunk count and
every size, one after the other, and knows nothing of lines, bounds or roots.
"""

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from collsim.algorithms import find
from collsim.choose.crossover import Crossover, crossover
from collsim.choose.curve import TIE, Curve, Model
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.core.link import LinkClass
from collsim.engine.compiled import CompiledLoop
from collsim.engine.fifo_kernel import run
from collsim.engine.simulate import Simulation
from collsim.topology.rails import join
from collsim.topology.switch import switch

__all__ = ["Case", "Verdict", "case", "judge", "scan", "simulated_and_chunked", "times"]

Floats = NDArray[np.float64]
# Nodes and GPUs of each, up to 12 ranks.
_RAILS = (
    (2, 1), (3, 1), (2, 2), (2, 3), (3, 2), (2, 4), (3, 3), (4, 2), (4, 3), (2, 6), (3, 4),
    (5, 2),
)  # fmt: skip
LOW, HIGH = 1.0, float(2**40)


# Fixed, so that a case's number always means the same case.
_MORE = {
    "all_gather": ("gather_broadcast",),
    "all_reduce": ("reduce_broadcast", "reduce_scatter_all_gather"),
}


@dataclass(frozen=True)
class Case:
    """One pair of algorithms on one cluster."""

    number: int
    collective: str
    a: str
    b: str
    cluster: Cluster
    root: int
    chunks: Any
    model: Model

    def __str__(self) -> str:
        c = self.cluster
        return (
            f"#{self.number} {self.collective} {self.a}/{self.b} on {c.name} of {c.ranks}, "
            f"root {self.root}, chunks {self.chunks}, {self.model}"
        )


@dataclass(frozen=True)
class Verdict:
    """What the scan found, what of it is missing, and what was invented."""

    case: str
    scanned: int
    found: int
    finer: int
    missing: tuple[float, ...]
    invented: tuple[float, ...]
    misplaced: tuple[float, ...]
    seconds: float


def case(number: int) -> Case:
    """Return random case `number`, always the same one."""
    rng = np.random.default_rng([2024, number])
    pick = lambda values: values[int(rng.integers(len(values)))]  # noqa: E731
    shape = pick(("ideal", "switch", "rails", "rails"))
    alpha = 0.0 if rng.random() < 0.05 else float(10 ** rng.uniform(-7, -4))
    rate = float(10 ** rng.uniform(8.5, 12))
    busy = float(pick((1.0, 1.0, 0.0, rng.random()))) * alpha
    gamma = float(pick((0.0, 0.0, rng.random() / rate, 3 * rng.random() / rate)))
    launch = float(pick((0.0, rng.random() * 1e-5)))
    near = LinkClass("near", alpha, rate, busy)
    if shape == "rails":
        nodes, gpus = pick(_RAILS)
        slower = alpha * float(10 ** rng.uniform(-0.5, 1.5))
        far = LinkClass(
            "far",
            slower,
            rate * float(10 ** rng.uniform(-1.5, 0.3)),
            float(pick((1.0, 0.0, rng.random()))) * slower,
        )
        node = switch(gpus, near, f"rails {nodes}x{gpus}", gamma=gamma, launch=launch)
        cluster = join(node, nodes, far)
    elif shape == "switch":
        cluster = switch(int(rng.integers(2, 13)), near, "switch", gamma=gamma, launch=launch)
    else:
        cluster = Cluster.ideal(
            int(rng.integers(2, 13)), alpha, rate, gamma=gamma, launch=launch, alpha_busy=busy
        )
    # sendrecv has one algorithm only.
    kind = pick([name for name in COLLECTIVES if name != "sendrecv"])
    names = ("mst", "ring", "linear", *_MORE.get(kind, ()))
    a, b = (str(x) for x in rng.permutation(names)[:2])
    chunked = any(find(kind, name).chunked for name in (a, b))
    chunks = pick(("auto", 1, 2, 3, 7, 16)) if chunked else "auto"
    model: Model = pick(("auto", "event"))
    return Case(number, kind, a, b, cluster, int(rng.integers(cluster.ranks)), chunks, model)


@numba.njit
def _batch(costs: Any, wanted: Any, best: Any, launch: float, given: Any, work: Any) -> None:
    alpha, beta, busy, adding, gamma, enter, held_beta = costs
    (pieces, every, route, reduces, dst, held_ptr, held, lane_ptr, single, only, more, late,
     first) = given  # fmt: skip
    (waits, free, holder, lanes_of, reducer_free, reducer_last, run_time, run_code, begin, end,
     head_time, head_code, times, codes, start, finish, blocker, ahead) = work  # fmt: skip
    for i in range(best.size):
        if not wanted[i]:
            continue
        free[:] = 0.0
        reducer_free[:] = 0.0
        finish[:] = 0.0
        run(
            pieces, every, route, reduces, dst, held_ptr, held, lane_ptr, single, only, more,
            late, first, alpha[i], beta[i], busy[i], adding[i], gamma[i],
            enter[i], held_beta[i], waits.copy(), free, holder, lanes_of, reducer_free,
            reducer_last, run_time, run_code, begin, end, head_time, head_code, times, codes,
            start, finish, blocker, ahead,
        )  # fmt: skip
        best[i] = min(best[i], launch + finish.max())


def _events(simulation: Simulation, sizes: Floats, best: Floats) -> None:
    """Lower `best` to the makespans of a simulation, where they can be lower."""
    plan, loop = simulation.plan, CompiledLoop(simulation.plan)
    # No link lets go of its last message before it has carried all of its messages, one
    # after the other; where that is too long already, the simulation need not be run.
    owner = np.repeat(np.arange(plan.alpha.size), np.diff(plan.held_ptr))
    of_route = np.bincount(plan.route, minlength=plan.alpha.size).astype(float)
    volume = np.bincount(plan.route, weights=plan.size, minlength=plan.alpha.size) * plan.piece
    links = plan.lane_ptr.size - 1
    starts = np.bincount(plan.held, (of_route * plan.busy)[owner], minlength=links)
    per_byte = np.bincount(plan.held, volume[owner] * plan.held_beta, minlength=links)
    floor = np.array([(starts + n_ * per_byte).max() for n_ in sizes]) + plan.launch
    plans = [plan.at(n_) for n_ in sizes]
    costs = tuple(
        np.array([getattr(p, name) for p in plans])
        for name in ("alpha", "beta", "busy", "adding", "gamma", "enter", "held_beta")
    )
    wanted = floor * (1 - 1e-9) <= best
    _batch(costs, wanted, best, plan.launch, loop.given(), loop.work())


def times(curve: Curve, sizes: Floats) -> Floats:
    """Return a curve's time at every size, the best of all chunk counts tried one by one."""
    best = np.full(sizes.size, np.inf)
    counts = [curve.chunks] if curve.chunks is not None else curve.candidates
    for c in counts:
        allowed = (
            np.maximum(1.0, sizes) >= c if curve.chunks is None else np.full(sizes.size, True)
        )
        if not allowed.any():
            continue
        part = best[allowed]
        if curve.by_formula(c):
            part = np.minimum(part, [curve._formula(n, c).seconds for n in sizes[allowed]])  # noqa: SLF001
        else:
            for channels in curve.channels:
                _events(curve.simulation(c, channels), sizes[allowed], part)
        best[allowed] = part
    return best


def curves_of(one: Case) -> tuple[Curve, Curve]:
    """Return the two curves of a case."""
    a, b = (
        Curve(one.collective, name, one.cluster, root=one.root, model=one.model,
              chunks=one.chunks if find(one.collective, name).chunked else "auto")
        for name in (one.a, one.b)
    )  # fmt: skip
    return a, b


def simulated_and_chunked(one: Case) -> bool:
    """Return whether the scan must simulate every chunk count."""
    return any(c.chunks is None and not c.by_formula(2) for c in curves_of(one))


def scan(one: Case, points: int = 10_000) -> list[tuple[float, float, int]]:
    """Return each swap on a logarithmic grid: between which sizes, and who is faster below."""
    sizes = np.geomspace(LOW, HIGH, points)
    a, b = (times(curve, sizes) for curve in curves_of(one))
    sign = np.where(np.abs(a - b) <= TIE * np.maximum(a, b), 0, np.sign(a - b)).astype(int)
    decided = np.flatnonzero(sign)
    return [
        (float(sizes[i]), float(sizes[j]), int(sign[i]))
        for i, j in pairwise(decided)
        if sign[i] != sign[j]
    ]


def _real(one: Case, row: Any) -> bool:
    """Whether the faster one changes at a swap, by times just below and above."""
    sizes = np.array([row.size * (1 - 1e-9), row.size * (1 + 1e-9)])
    a, b = (times(curve, sizes) for curve in curves_of(one))
    below, above = a < b
    return bool(below == (row.below == one.a) and above == (row.above == one.a))


def judge(one: Case, points: int = 10_000) -> Verdict:
    """Compare the answer of `crossover` with the scan."""
    start = time.perf_counter()
    answer: Crossover = crossover(
        one.collective,
        one.a,
        one.b,
        one.cluster,
        root=one.root,
        chunks=one.chunks,
        model=one.model,
    )
    seconds = time.perf_counter() - start
    swaps = scan(one, points)
    left = list(answer.rows)
    missing, misplaced = [], []
    for low, high, sign in swaps:
        inside = [row for row in left if low <= row.size <= high]
        fits = [row for row in inside if row.below == (one.a if sign < 0 else one.b)]
        # Between two points of the scan an odd number of swaps looks like one.
        if len(inside) % 2 == 0 or len(fits) != len(inside) // 2 + 1:
            missing.append(low)
        left = [row for row in left if row not in inside[:1]]
    misplaced = [row.size for row in answer.rows if not _real(one, row)]
    # What is left must be too fine for the scan: in even number between two of its points.
    grid = np.geomspace(LOW, HIGH, points)
    gaps: dict[int, int] = {}
    for row in left:
        gap = int(np.searchsorted(grid, row.size))
        gaps[gap] = gaps.get(gap, 0) + 1
    invented = [row.size for row in left if gaps[int(np.searchsorted(grid, row.size))] % 2]
    return Verdict(
        str(one), len(swaps), len(answer.rows), len(left) - len(invented), tuple(missing),
        tuple(invented), tuple(misplaced), seconds,
    )  # fmt: skip


def _numbered(number_and_points: tuple[int, int]) -> Verdict:
    return judge(case(number_and_points[0]), number_and_points[1])


def _run_all(pairs: int, points: int) -> Iterator[Verdict]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(_numbered, [(number, points) for number in range(pairs)])


def main() -> int:
    """Print one line per pair that differs, and the counts."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    verdicts = []
    for verdict in _run_all(pairs, points):
        verdicts.append(verdict)
        if verdict.missing or verdict.invented or verdict.misplaced:
            print(verdict, flush=True)
    slowest = max(verdicts, key=lambda v: v.seconds)
    missing, invented, misplaced = (
        sum(len(getattr(v, name)) for v in verdicts)
        for name in ("missing", "invented", "misplaced")
    )
    scanned, found = (sum(getattr(v, name) for v in verdicts) for name in ("scanned", "found"))
    print(
        f"{pairs} pairs, {points} points each: the scan finds {scanned} swaps, "
        f"crossover {found}; "
        f"missing {missing}, invented {invented}, misplaced {misplaced}, "
        f"real but finer than the scan {sum(v.finer for v in verdicts)}"
    )
    total = sum(v.seconds for v in verdicts)
    print(f"crossover took {total:.1f} s in all, {slowest.seconds:.2f} s for {slowest.case}")
    return 1 if missing or invented or misplaced else 0


if __name__ == "__main__":
    sys.exit(main())
