"""Where the search for implied dependencies is cut short, they are kept, and times stay."""

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core import dependencies, dependencies_kernel
from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.engine.simulation import Simulation


def up_and_down() -> Schedule:
    """Return an all_reduce up and down two trees, in chunks."""
    node = np.arange(32) // 4
    return build("all_reduce", "double_binary_tree", 32, chunks=4, node=node)


def through(schedule: Schedule) -> list[int]:
    """Return what every operation waits for, directly or not, a bit for each."""
    found: list[int] = []
    for i in range(len(schedule)):
        bits = 0
        for d in schedule.waits_for(i).tolist():
            bits |= found[d] | 1 << d
        found.append(bits)
    return found


def test_what_is_kept_beyond_it_is_implied(monkeypatch: pytest.MonkeyPatch) -> None:
    """More dependencies, the same order, and the same times to the last bit."""
    # Compiled code has its numbers built in, and other tests may have loaded it.
    monkeypatch.setattr(dependencies, "_LOADED_FROM", 2**62)
    exact = up_and_down()
    monkeypatch.setattr(dependencies_kernel, "_PATIENCE", 0)
    hasty = up_and_down()
    assert hasty.dep.size > exact.dep.size
    assert through(hasty) == through(exact)
    cluster = Cluster.load("dgx-h100", nodes=8, gpus_per_node=4)
    one, two = (Simulation(schedule, cluster).run(1e6) for schedule in (exact, hasty))
    assert (one.start == two.start).all()
    assert one.breakdown == two.breakdown
