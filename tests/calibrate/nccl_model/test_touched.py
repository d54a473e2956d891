"""A model, not a lookup table: few parameters for each collective and protocol."""

from __future__ import annotations

from itertools import product

import pytest

from collsim.calibrate.nccl_model import Case, Selector, System
from collsim.calibrate.nccl_model.batch import batch_of
from collsim.calibrate.nccl_model.fitted import COVERED
from collsim.calibrate.nccl_model.pieces import PIECES
from collsim.calibrate.nccl_model.prior import priors
from collsim.calibrate.nccl_model.touched import touched

MOST = 12
SYSTEMS = {
    "nvswitch": System("hopper", 12, 360.0, nvls=True),
    "pcie": System("ampere", 2, 24.0, "pci", uniform=False),
    "nodes": System("hopper", 12, 360.0, inter_bus=400.0, nvls=True),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_at_most_twelve_parameters_each(name: str) -> None:
    """At every size, on any rank count: what NCCL may choose there depends on no more."""
    system = SYSTEMS[name]
    nodes = (1, 2, 8) if system.several else (1,)
    known = {key: p.centre for key, p in priors(system, [2, 4, 8], COVERED, ["ring"]).items()}
    sizes = [float(2**k) for k in range(3, 34)]
    for kind, count in product(COVERED, nodes):
        for ranks in (2, 4, 8) if count == 1 else (8 * count,):
            cases = [Case(kind, ranks, count, n) for n in sizes]
            for piece, used in touched(known, batch_of(system, cases, Selector())).items():
                assert len(used) <= MOST, (piece, ranks, count, sorted(used))


def test_every_parameter_is_used_by_some_piece() -> None:
    """No prior without a formula that asks for it."""
    for system in SYSTEMS.values():
        prior = priors(system, [2, 8], COVERED, ["tree"])
        known = {key: p.centre for key, p in prior.items()}
        used: set[str] = set()
        for nodes in (1, 2) if system.several else (1,):
            for kind, algorithm in product(("all_reduce", "all_gather"), set(PIECES) - {"p2p"}):
                if algorithm.startswith("nvls") and not system.nvls:
                    continue
                for p in ("ll", "ll128", "simple") if "nvls" not in algorithm else ("simple",):
                    case = Case(kind, 8, nodes, 2.0**20, algorithm, p)
                    used |= set().union(
                        *touched(known, batch_of(system, [case], Selector())).values()
                    )
            case = Case("all_to_all", 8, nodes, 2.0**20)
            used |= set().union(*touched(known, batch_of(system, [case], Selector())).values())
        assert set(prior) <= used, sorted(set(prior) - used)
