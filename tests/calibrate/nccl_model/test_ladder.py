"""How NCCL's table is read is chosen by rows that were left out."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.calibrate.nccl_model import Case, Fitted, Selector, System, fit_nccl
from collsim.calibrate.nccl_model.ladder import ladder_of
from collsim.calibrate.nccl_model.prior import priors
from collsim.core.measurements import Measurement
from collsim.errors import InputError

PCIE = System("ampere", 2, 24.0, "pci", uniform=False)
NODES = System("hopper", 12, 360.0, inter_bus=100.0, ll128_network=False, gpus=4)


def made(system: System, selector: Selector, where: list[tuple[int, int]]) -> list[Measurement]:
    """Return what a system would be measured at whose NCCL believes as a selector says."""
    prior = priors(system, {p for p, _ in where}, ["all_reduce"])
    values = {key: p.centre for key, p in prior.items()}
    sigma = {key: p.sigma for key, p in prior.items()}
    truth = Fitted(system, selector, values, sigma, prior, 0.0)
    cases = [Case("all_reduce", p, n, 2.0**k) for p, n in where for k in range(9, 30)]
    noise = np.exp(0.01 * np.random.default_rng(3).normal(size=len(cases)))
    return [
        Measurement("all_reduce", case.ranks, int(case.nbytes), float(t), nodes=case.nodes)
        for case, t in zip(cases, truth.times(cases) * noise, strict=True)
    ]


def test_the_reading_that_made_the_rows_is_found_on_pcie() -> None:
    """A quarter of the bandwidth that the graph has."""
    rows = made(PCIE, Selector(0.25), [(2, 1), (4, 1)])
    assert fit_nccl(rows, PCIE).selector == Selector(0.25)


def test_nccls_own_reading_is_kept_on_a_tie() -> None:
    """Unless another is 10 % better."""
    rows = made(PCIE, Selector(), [(2, 1), (4, 1)])
    found = fit_nccl(rows, PCIE)
    assert found.selector == Selector()
    assert found.scores[Selector()] < 0.02


def test_more_nodes_follow_from_few() -> None:
    """32 nodes from 1, 2 and 8, where the model holds; readings may be alike in all rows."""
    rows = made(NODES, Selector(0.5, 1.0, 2.0), [(4, 1), (8, 2), (32, 8)])
    more = made(NODES, Selector(0.5, 1.0, 2.0), [(128, 32)])
    found = fit_nccl(rows, NODES)
    ratio = found.predict(more) / np.array([row.seconds for row in more])
    assert np.median(np.abs(ratio - 1)) < 0.05


def test_switches_need_no_ladder() -> None:
    """NCCL's constants choose what really runs there."""
    assert ladder_of(System("ampere", 12, 240.0)) == (Selector(),)
    assert len(ladder_of(NODES)) > 40


def test_no_rows_are_refused() -> None:
    """Nothing can be fitted to nothing."""
    with pytest.raises(InputError, match="no row to fit"):
        fit_nccl([], PCIE)
