"""The lower bound of a schedule is below what its simulation takes."""

from __future__ import annotations

import pytest

from collsim.algorithms import algorithm_names, build, find
from collsim.core.cluster import Cluster
from collsim.engine.least import least
from collsim.engine.simulation import Simulation
from collsim.errors import InputError

CLUSTERS = [
    Cluster.ideal(7, "1us", "1GB/s", gamma=1e-9, launch="2us"),
    Cluster.ideal(8, "1us", "1GB/s", alpha_busy=0),
    Cluster.load("dgx-h100", nodes=2, gpus_per_node=3),
    Cluster.load("pcie-8"),
]


@pytest.mark.parametrize("name", ["all_reduce", "broadcast", "all_gather", "all_to_all"])
@pytest.mark.parametrize("cluster", CLUSTERS, ids=repr)
def test_no_simulation_is_faster(cluster: Cluster, name: str) -> None:
    """For every algorithm and chunk count; in many chunks also told from 1, 2 and 4."""
    for algorithm in algorithm_names(name):
        counts = (1, 2, 4, 16) if find(name, algorithm).chunked else (1,)
        bounds = []
        for chunks in counts:
            try:
                schedule = build(
                    *(name, algorithm, cluster.ranks),
                    chunks=chunks,
                    node=cluster.node,
                    multicast=cluster.setting.multicast,
                )
            except InputError:
                break
            simulation = Simulation(schedule, cluster)
            bounds.append(least(simulation))
            checked = [bounds[-1]]
            if chunks > 4:
                checked.append(bounds[0].stretched(bounds[1], bounds[2], chunks) or bounds[-1])
            for n in (0, 1, 1e3, 1e5, 1e7, 1e9):
                time = simulation.makespan(n)
                assert all(b.seconds(n) <= time * (1 + 1e-9) for b in checked), algorithm


def test_what_does_not_grow_evenly_says_nothing_of_more_chunks() -> None:
    """Links that are not there in one chunk, or start-ups that are not one more per chunk."""
    cluster = Cluster.ideal(4, "1us", "1GB/s")
    one, two, four = (
        least(Simulation(build("broadcast", "ring", 4, chunks=chunks), cluster))
        for chunks in (1, 2, 4)
    )
    assert one.stretched(two, four, 16) is not None
    assert one.stretched(two, two, 16) is None
    tree = least(Simulation(build("all_gather", "mst", 4), cluster))
    assert tree.at.size != one.at.size
    assert tree.stretched(two, four, 16) is None
