"""Which loop runs a plan: plain Python for few messages, compiled for many, one for sharing."""

from __future__ import annotations

import pytest

from collsim.algorithms import build, build_folded
from collsim.core.cluster import Cluster
from collsim.core.symmetry import Fold
from collsim.engine import compiled as kernels
from collsim.engine.compiled import CompiledLoop
from collsim.engine.fair import FairLoop
from collsim.engine.fold.simulation import FoldedSimulation
from collsim.engine.loop import Loop
from collsim.engine.simulation import Simulation, loop_of

RING = build("all_reduce", "ring", 8)
CLUSTER = Cluster.ideal(8, 1e-6, 1e9)


@pytest.mark.parametrize(("compiled", "loop"), [(False, Loop), (True, CompiledLoop)])
def test_who_asks_for_a_loop_gets_it(compiled: bool, loop: type) -> None:
    """Of all ranks, and of a few that stand for them."""
    assert kernels.CompiledLoop is CompiledLoop
    whole = Simulation(RING, CLUSTER, compiled=compiled)
    assert type(whole.loop) is loop
    folded = build_folded("all_reduce", "ring", Fold("shift", 8, 1))
    few = FoldedSimulation(folded, CLUSTER, compiled=compiled)
    assert type(few.loop) is loop
    assert few.run(1e6).makespan == whole.run(1e6).makespan
    shared = loop_of(whole.plan, True, compiled)
    assert type(shared) is FairLoop
