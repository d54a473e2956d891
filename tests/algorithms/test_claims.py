"""What authors claim beside the time: where it is exact, and that a switch takes part."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.link import LinkClass
from collsim.engine.simulate import Simulation
from collsim.topology.switch import switch

ALGORITHMS = [(name, algorithm) for name in COLLECTIVES for algorithm in algorithm_names(name)]
ALPHA, BETA, GAMMA = 1.5e-6, 1 / 30e9, 1 / 7e9
# Bounds, which some rank counts attain and others do not.
BOUNDS = {("broadcast", "double_binary_tree"), ("reduce", "double_binary_tree")}


def network(ranks: int, gamma: float, in_switch: bool) -> Cluster:
    """Return an ideal network, or one switch that takes part."""
    if not in_switch:
        return Cluster.ideal(ranks, ALPHA, 1 / BETA, gamma=gamma)
    return switch(
        ranks, LinkClass("link", ALPHA, 1 / BETA), "switch", gamma=gamma, multicast=True
    )


@pytest.mark.parametrize(
    ("name", "algorithm"), [one for one in ALGORITHMS if one not in BOUNDS]
)
def test_what_is_not_claimed_to_be_exact_is_not(name: str, algorithm: str) -> None:
    """A claim of "at most" is beaten from some root at some size; else it could say more."""
    found = find(name, algorithm)
    for ranks in range(1, 10):
        if refusal(name, algorithm, ranks, multicast=found.in_switch) is not None:
            continue
        roots = {0, ranks // 2, ranks - 1} if collective(name).rooted else {0}
        for chunks in (1, 2, 3) if found.chunked else (1,):
            terms = found.terms(ranks, chunks)
            for gamma in (0.0, GAMMA):
                if terms is None or terms.holds(gamma):
                    continue
                cluster = network(ranks, gamma, found.in_switch)
                shorter = []
                for root in roots:
                    schedule = build(
                        name, algorithm, ranks, root, chunks, multicast=found.in_switch
                    )
                    run = Simulation(schedule, cluster)
                    for n in (4097.0, 2.0**30):
                        claimed = terms.seconds(n, ALPHA, BETA, gamma)
                        shorter.append(run.makespan(n) < claimed * (1 - 1e-9))
                assert any(shorter), (ranks, chunks, gamma)


@pytest.mark.parametrize(("name", "algorithm"), ALGORITHMS)
def test_messages_go_by_the_switch_where_it_is_claimed(name: str, algorithm: str) -> None:
    """All of them, or not all."""
    found = find(name, algorithm)
    for ranks, node in ((4, None), (4, [0, 0, 1, 1])):
        if refusal(name, algorithm, ranks, node=node, multicast=True) is None:
            schedule = build(name, algorithm, ranks, node=node, multicast=True)
            by_switch = np.maximum(schedule.src, schedule.dst) >= ranks
            assert by_switch.all() == found.in_switch
