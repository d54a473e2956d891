"""Fit a system, and choose how NCCL's table is read by what predicts left-out rows best.

On a single node of NVSwitches NCCL's constants choose what really runs, and nothing is tried.
On a PCIe tree and over nodes the bandwidth that NCCL believes in is known less well: a few
factors on it are tried, and the fastest fitted piece. What is left out is every second size,
and, of several node counts, one at a time: the kind of extrapolation that will be asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from collsim.calibrate.nccl_model.batch import Case, batch_of, case_of
from collsim.calibrate.nccl_model.fitted import Fitted
from collsim.calibrate.nccl_model.prior import Prior, priors
from collsim.calibrate.nccl_model.solve import Solved, solve_map
from collsim.calibrate.nccl_model.system import Selector, System
from collsim.core.measurements import Measurement
from collsim.errors import InputError

__all__ = ["fit_nccl", "ladder_of"]

_LADDER: Final = tuple(Selector(scale) for scale in (1.0, 2.0, 0.5, 0.25, 0.0))
_NETWORK_LADDER: Final = (
    *(
        Selector(scale, two, tree)
        for scale in (1.0, 0.7, 0.5, 0.35, 0.25, 1.4, 2.0)
        for two in (1.0, 2.0, 4.0)
        for tree in (1.0, 2.0)
    ),
    Selector(0.0),
)
_FACTS_KEPT: Final = 1.1  # NCCL's own reading is kept unless another is 10 % better
_MOST: Final = 1.0  # more than e times off counts no more


def ladder_of(system: System) -> tuple[Selector, ...]:
    """Return the readings of NCCL's table that are tried on a system.

    Examples
    --------
    >>> len(ladder_of(System("hopper", 12, 360.0))), ladder_of(System("hopper", 12, 360.0))[0]
    (1, Selector(scale=1.0, two_nodes=1.0, tree_two=1.0))
    """
    if system.several:
        return _NETWORK_LADDER
    return _LADDER[:1] if system.uniform else _LADDER


def fit_nccl(
    rows: Sequence[Measurement],
    system: System,
    *,
    seed: int = 0,
    ladder: Sequence[Selector] | None = None,
) -> Fitted:
    """Fit the time of every piece of NCCL to measured rows.

    Parameters
    ----------
    rows : sequence of Measurement
        Of one system; times above 0, more than one rank.
    system : System
        What is known of it.
    seed : int
        Nothing is random; kept so that callers can be sure of it.
    ladder : sequence of Selector, optional
        Readings of NCCL's table to try; see `ladder_of`.

    Raises
    ------
    InputError
        If there is no row.

    Examples
    --------
    >>> rows = [Measurement("all_gather", 8, 2**k, 15e-6 + 2**k * 4e-12) for k in range(10, 31)]
    >>> fitted = fit_nccl(rows, System("ampere", 12, 240.0))
    >>> fitted.noise < 0.03, "inside.simple.beta" in fitted.untold
    (True, False)
    """
    del seed
    if not rows:
        raise InputError("no row to fit, expected one at least")
    tried = tuple(ladder or ladder_of(system))
    ordered = sorted(rows, key=lambda r: (r.collective, r.ranks, r.nodes or 0, r.nbytes))
    work = _Work(system, ordered)
    if len(tried) == 1:
        return work.fitted(tried[0], work.solve(tried[0], range(len(ordered))))
    seen: set[object] = set()
    score: dict[Selector, float] = {}
    least = math.inf
    for selector in tried:
        what = batch_of(system, work.cases, selector).pieces
        if what in seen:
            continue
        seen.add(what)
        factor = 1.0 if selector == tried[0] else _FACTS_KEPT
        found = work.score(selector, least / factor)
        if found is not None:
            score[selector] = found
            least = min(least, found * factor)
    best = min(score, key=lambda s: score[s] * (1 if s == tried[0] else _FACTS_KEPT))
    solved = work.solve(best, range(len(ordered)))
    return replace(work.fitted(best, solved), scores=score)


class _Work:
    """The rows of a fit, as often as they are needed."""

    def __init__(self, system: System, rows: Sequence[Measurement]) -> None:
        self.system, self.rows = system, rows
        self.cases = [case_of(row, system) for row in rows]
        self.seconds = np.array([row.seconds for row in rows])
        self.logs = np.log(self.seconds)

    def prior(self, cases: Sequence[Case]) -> dict[str, Prior]:
        return priors(
            self.system,
            {case.ranks for case in cases},
            {case.collective for case in cases},
            {case.algorithm for case in cases},
        )

    def solve(self, selector: Selector, places: Sequence[int]) -> Solved:
        """Fit some rows; nothing of the others goes in, not even as a start."""
        cases = [self.cases[i] for i in places]
        batch = batch_of(self.system, cases, selector)
        return solve_map(self.prior(cases), batch, self.seconds[list(places)])

    def fitted(self, selector: Selector, solved: Solved) -> Fitted:
        """Return a fit; what its rows never show is as believed."""
        algorithms = (*{case.algorithm for case in self.cases}, "tree")
        collectives = {case.collective for case in self.cases} | {"all_to_all"}
        ranks = {case.ranks for case in self.cases}
        prior = priors(self.system, ranks, collectives, algorithms)
        prior |= self.prior(self.cases)
        values = {key: p.centre for key, p in prior.items()} | solved.values
        sigma = {key: p.sigma for key, p in prior.items()} | solved.log_sigma
        return Fitted(self.system, selector, values, sigma, prior, solved.noise)

    @cached_property
    def folds(self) -> list[tuple[list[int], list[int]]]:
        """Which rows are fitted and which left out; those that tell readings apart first."""
        every = range(len(self.cases))
        found = [
            ([i for i in every if i % 2 == k], [i for i in every if i % 2 != k]) for k in (0, 1)
        ]
        counts = sorted({case.nodes for case in self.cases} - {1})
        found += [
            (
                [i for i in every if self.cases[i].nodes != count],
                [i for i in every if self.cases[i].nodes == count],
            )
            for count in (counts if len(counts) > 1 else ())
        ]
        return [(seen, left) for seen, left in found[::-1] if seen and left]

    def score(self, selector: Selector, most: float) -> float | None:
        """Return the mean error of left-out rows, of logarithms, each at most 1.

        None if it is above `most`, which may be known before the last fold.
        """
        folds = self.folds
        total = 0.0
        for seen, left in folds:
            part = self.fitted(selector, self.solve(selector, seen))
            off = np.abs(np.log(part.times([self.cases[i] for i in left])) - self.logs[left])
            total += float(np.mean(np.minimum(off, _MOST))) / len(folds)
            if total > most:
                return None
        return total
