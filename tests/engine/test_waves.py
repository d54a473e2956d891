"""The compiled queue of sorted runs: the order of events is exact, and cheap in waves."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.link import LinkClass
from collsim.core.schedule import Schedule
from collsim.engine import compiled, fifo_kernel
from collsim.engine.compiled import CompiledLoop
from collsim.engine.lower import lower
from collsim.engine.simulate import Simulation
from collsim.topology.ring import ring


def heaped(schedule: Schedule, cluster: Cluster) -> int:
    """Return how many events of a run went to the heap."""
    loop = CompiledLoop(lower(schedule, cluster))
    p = loop.plan.at(1e6)
    costs = (p.alpha, p.beta, p.busy, p.adding, p.gamma, p.enter, p.held_beta)
    return int(fifo_kernel.run(*loop.given(), *costs, *loop.work()))


def outcomes(schedule: Schedule, cluster: Cluster, nbytes: float) -> list[list[list[float]]]:
    """Return what the plain and the compiled loop find."""
    loops = [Simulation(schedule, cluster, compiled=choice).loop for choice in (False, True)]
    return [[list(column) for column in loop.run(nbytes)] for loop in loops]


@pytest.mark.parametrize("gamma", [0.0, 1e-12])
def test_a_ring_never_needs_the_heap(gamma: float) -> None:
    """Its events are found in the order in which they are due, arrivals among them."""
    ideal = Cluster.ideal(32, "1us", "100GB/s", gamma=gamma)
    assert heaped(build("all_reduce", "ring", 32), ideal) == 0


@pytest.mark.parametrize("room", [2, 8, 1024])
@pytest.mark.parametrize(
    ("kind", "algorithm", "chunks"),
    [
        ("all_to_all", "direct", 1),
        ("all_reduce", "double_binary_tree", 8),
        ("all_reduce", "hierarchical", 2),
        ("broadcast", "ring", 8),
        ("reduce", "linear", 1),
    ],
)
def test_equal_to_the_plain_loop_whatever_the_room_of_a_run(
    monkeypatch: pytest.MonkeyPatch, kind: str, algorithm: str, chunks: int, room: int
) -> None:
    """Links shared by 16 ranks, late ones among them; what a run has no room for is heaped."""
    monkeypatch.setattr(compiled, "_LEAST_ROOM", room)
    monkeypatch.setattr(compiled, "_MOST_ROOM", room)
    cluster = replace(Cluster.load("dgx-h100", nodes=2), sharing="fifo", gamma=1e-12)
    late = replace(cluster, delay=np.arange(16) % 5 * 1e-6)
    schedule = build(kind, algorithm, 16, chunks=chunks, node=cluster.node)
    for where in (cluster, late):
        for nbytes in (0, 1e3, 1e8):
            plain, fast = outcomes(schedule, where, nbytes)
            assert fast == plain


def test_short_runs_do_fill_the_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the test before would show nothing of it."""
    monkeypatch.setattr(compiled, "_LEAST_ROOM", 2)
    monkeypatch.setattr(compiled, "_MOST_ROOM", 2)
    cluster = replace(Cluster.load("dgx-h100", nodes=2), sharing="fifo")
    assert heaped(build("all_reduce", "ring", 16, node=cluster.node), cluster) > 100


def test_random_programs_with_short_runs(
    monkeypatch: pytest.MonkeyPatch, oracle: ModuleType, drawn: ModuleType
) -> None:
    """Ties, lanes, late ranks and reductions that take time."""
    monkeypatch.setattr(compiled, "_LEAST_ROOM", 1)
    monkeypatch.setattr(compiled, "_MOST_ROOM", 1)
    for seed in range(1000, 1150):
        case = drawn.draw(oracle, seed, drawn.quarters)
        plain, fast = outcomes(case.schedule, case.cluster, case.nbytes)
        assert fast == plain, f"seed {seed}"


def test_two_runs_are_the_same_to_the_last_bit() -> None:
    """Nothing of a run is left over for the next one."""
    cluster = replace(Cluster.load("dgx-h100", nodes=4), sharing="fifo")
    simulation = Simulation(build("all_to_all", "direct", 32, node=cluster.node), cluster, True)
    first, _, again = (simulation.run(nbytes) for nbytes in (1e6, 1e3, 1e6))
    assert np.array_equal(first.start, again.start)
    assert np.array_equal(first.finish, again.finish)
    assert first.critical_path == again.critical_path


def test_a_route_may_be_as_long_as_a_ring() -> None:
    """Each message crosses up to 70 links one after the other, all of which it holds."""
    cluster = ring(140, LinkClass("wire", 1e-6, 1e9), "ring")
    b = Builder(collective("all_reduce"), 140)
    b.next_round()
    every = np.arange(140)
    b.copy(every, (every + 70) % 140, np.zeros((140, 1), dtype=np.int64))
    schedule = b.finish()
    plain, fast = outcomes(schedule, cluster, 1e6)
    assert fast == plain
