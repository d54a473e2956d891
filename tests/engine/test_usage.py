"""Use of links: no link carries more than it can, and all that was sent is counted."""

from __future__ import annotations

import os
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, refusal
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster, Ports
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.link import LinkClass
from collsim.core.schedule import Schedule
from collsim.engine.simulate import simulate
from collsim.engine.usage import Usage, usage
from collsim.topology.rails import join
from collsim.topology.switch import switch

CASES = int(os.environ.get("COLLSIM_ORACLE_CASES", "400"))
MODES = ("fifo", "fair")


def routed(schedule: Schedule, cluster: Cluster, nbytes: float) -> np.ndarray:
    """Return the bytes that routes lead over every link and port."""
    links = len(cluster.links)
    ports = [cluster.egress, cluster.ingress]
    total = np.zeros(links + cluster.ranks * sum(port is not None for port in ports))
    for o in range(len(schedule)):
        src, dst = int(schedule.src[o]), int(schedule.dst[o])
        ways = list(cluster.route(src, dst))
        ends = [end for port, end in zip(ports, (src, dst), strict=True) if port is not None]
        if src != dst:
            # A switch has no ports.
            ways += [
                links + i * cluster.ranks + end
                for i, end in enumerate(ends)
                if end < cluster.ranks
            ]
        total[ways] += schedule.fraction[o] * nbytes
    return total


def check(used: Usage, schedule: Schedule, cluster: Cluster, nbytes: float) -> None:
    """Hold the use of links to what it must be."""
    assert (used.peak <= used.capacity * (1 + 1e-9)).all()
    assert (used.rate > 0).all()
    assert (used.begin < used.end).all()
    # A link at no cost per byte passes them in no time, which has no rate.
    beta = [cluster.links.beta]
    beta += [np.full(cluster.ranks, p.beta) for p in (cluster.egress, cluster.ingress) if p]
    costs = np.concatenate(beta) > 0
    expected = routed(schedule, cluster, nbytes)
    assert used.nbytes[costs] == pytest.approx(expected[costs], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("sharing", MODES)
@pytest.mark.parametrize("number", ["quarters", "continuous"])
def test_of_random_programs(
    oracle: ModuleType, drawn: ModuleType, sharing: str, number: str
) -> None:
    """Lanes, ports and links of all kinds."""
    for seed in range(CASES):
        case = drawn.draw(oracle, seed, getattr(drawn, number))
        cluster = replace(case.cluster, sharing=sharing)
        timeline = simulate(case.schedule, cluster, case.nbytes)
        check(usage(timeline, cluster), case.schedule, cluster, case.nbytes)


@pytest.mark.parametrize("sharing", MODES)
@pytest.mark.parametrize("kind", COLLECTIVES)
def test_of_every_algorithm(kind: str, sharing: str) -> None:
    """Two nodes of three GPUs on rails."""
    near, far = LinkClass("near", 2e-6, 300e9), LinkClass("far", 5e-6, 50e9)
    cluster = replace(join(switch(3, near, "pair"), 2, far), sharing=sharing)
    for algorithm in algorithm_names(kind):
        if refusal(kind, algorithm, 6) is not None:
            continue
        schedule = build(kind, algorithm, 6)
        check(usage(simulate(schedule, cluster, 6e6), cluster), schedule, cluster, 6e6)


def two_flows() -> Schedule:
    """Return 4 bytes from 0 to 1, and 8 from 0 to 2."""
    b = Builder(collective("all_reduce"), 3, parts=8)
    b.copy(0, 1, range(4))
    b.copy(0, 2, range(8))
    return b.finish()


def test_fifo_by_hand() -> None:
    """Alpha 2, all of it busy: 4 bytes pass from 2 to 6, 8 bytes from 8 to 16."""
    cluster = Cluster.ideal(3, 2.0, 1.0)
    used = usage(simulate(two_flows(), cluster, 8), cluster)
    assert used.of("egress[0]") == [(2, 6, 1), (8, 16, 1)]
    assert used.of("ingress[2]") == [(8, 16, 1)]
    assert used.of("egress[1]") == []
    assert used.busy[used.names.index("egress[0]")] == 12


def test_fair_by_hand() -> None:
    """From 2 to 10 they share; the other 4 bytes of the longer pass alone. Launch is 1."""
    cluster = replace(Cluster.ideal(3, 2.0, 1.0, launch=1.0), sharing="fair")
    used = usage(simulate(two_flows(), cluster, 8), cluster)
    assert used.of("egress[0]") == [(3, 11, 1), (11, 15, 1)]
    assert used.of("ingress[1]") == [(3, 11, 0.5)]
    assert used.of("ingress[2]") == [(3, 11, 0.5), (11, 15, 1)]


def test_lanes_add_up() -> None:
    """Two lanes carry twice as much."""
    cluster = replace(Cluster.ideal(3, 2.0, 1.0), egress=Ports(1.0, lanes=2))
    for sharing in MODES:
        mine = replace(cluster, sharing=sharing)
        used = usage(simulate(two_flows(), mine, 8), mine)
        assert used.of("egress[0]") == [(2, 6, 2), (6, 10, 1)]
        assert used.capacity[used.names.index("egress[0]")] == 2


def test_nothing_sent_uses_nothing() -> None:
    """No bytes, or no messages."""
    for sharing in MODES:
        cluster = replace(Cluster.ideal(3, 2.0, 1.0), sharing=sharing)
        assert usage(simulate(two_flows(), cluster, 0), cluster).rate.size == 0
        one = replace(Cluster.ideal(1, 2.0, 1.0), sharing=sharing)
        assert usage(simulate(build("all_reduce", "ring", 1), one, 8), one).rate.size == 0
