"""A group of ranks as a cluster of its own."""

from __future__ import annotations

import numpy as np
import pytest

import collsim
from collsim.errors import InputError
from collsim.topology import groups, subset


@pytest.mark.parametrize("name", ["dgx-h100", "dgx-a100", "pcie-8"])
@pytest.mark.parametrize("kind", ["inside", "across"])
def test_a_group_alone_takes_as_long_as_its_job(name: str, kind: str) -> None:
    """The same schedule on the same links."""
    nodes = 2 if name.startswith("dgx") else 1
    cluster = collsim.Cluster.load(name, nodes=nodes)
    for group in groups(cluster, kind):
        part = subset(cluster, group)
        schedule = collsim.build("all_reduce", "ring", part.ranks)
        alone = collsim.simulate(schedule, part, 2**20).makespan
        job = collsim.simulate([collsim.Job(schedule, group, 2**20)], cluster)
        assert alone == pytest.approx(job.makespan, rel=1e-12)


def test_switches_of_the_nodes_come_along() -> None:
    """Half of a node can use its switch; node 1 of the cluster is node 0 of the group."""
    cluster = collsim.Cluster.load("dgx-h100", nodes=2)
    part = subset(cluster, [8, 10, 12, 14])
    assert part.nodes == 1
    row = collsim.predict("all_reduce", part, 2**10, "nvls").rows[0]
    schedule = collsim.build("all_reduce", "nvls", 4, node=part.node, multicast=True)
    job = collsim.Job(schedule, [8, 10, 12, 14], 2**10)
    together = collsim.simulate([job], cluster)
    assert row.time_us == pytest.approx(together.makespan_us, rel=1e-12)


def test_an_ideal_network_stays_one() -> None:
    """So that formulas hold in its groups."""
    part = subset(collsim.Cluster.ideal(6, "1us", "1GB/s"), [4, 1])
    assert part.uniform == (1e-6, 1e-9)
    assert np.array_equal(part.node, [0, 0])


@pytest.mark.parametrize("ranks", [[], [0, 0], [0, 4], [-1, 0], [0.5]])
def test_ranks_that_cannot_be(ranks: list[float]) -> None:
    """None, twice, or beyond the cluster."""
    with pytest.raises(InputError, match="group"):
        subset(collsim.Cluster.ideal(4, "1us", "1GB/s"), ranks)
