"""Families of algorithms that are asked for by one name."""

from __future__ import annotations

from typing import Any

import pytest

import collsim
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.interop.nccl_tuner.names import OUR_NAME, available
from collsim.nccl import COLLECTIVES as THEIRS
from collsim.nccl import communicator, tuning
from collsim.nccl.families import nccl_algorithms


@pytest.mark.parametrize("size", [{}, {"nodes": 2}, {"nodes": 4, "gpus_per_node": 1}])
def test_what_nccl_has_is_what_its_model_has(size: Any) -> None:
    """Where our algorithm can run: NVLS adds up on one node alone."""
    cluster = Cluster.load("dgx-h100", **size)
    table = tuning(communicator(cluster))
    for name in THEIRS:
        ours = {
            a
            for a in nccl_algorithms(name, cluster)
            if collsim.algorithms.refusal(
                name, a, cluster.ranks, cluster.node, cluster.setting.multicast
            )
            is None
        }
        model = {OUR_NAME[a] for a in available(table, name)}
        assert ours - {"nvls", "nvls_tree"} == model - {"nvls", "nvls_tree"}
        assert "nvls" not in ours or "nvls" in model


def test_every_collective_has_some() -> None:
    """What NCCL has no algorithm of is made of its sends and receives."""
    for name in COLLECTIVES:
        cluster = Cluster.load("dgx-a100")
        (row,) = collsim.predict(name, cluster, 2**20, "nccl").rows
        assert row.algorithm in nccl_algorithms(name, cluster)


def test_the_fastest_of_what_nccl_has_is_predicted_and_chosen() -> None:
    """By name, among others, and on a changed cluster."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    every = collsim.predict("all_reduce", cluster, [2**12, 2**28], "all").rows
    theirs = nccl_algorithms("all_reduce", cluster)
    found = collsim.predict("all_reduce", cluster, [2**12, 2**28], "nccl").rows
    for row in found:
        times = [r.time_us for r in every if r.size == row.size and r.algorithm in theirs]
        assert row.time_us == pytest.approx(min(times), rel=1e-9)
    assert min(r.time_us for r in every if r.size == 2**12) < found[0].time_us
    policy = collsim.choose("all_reduce", cluster, min_bytes=2**12, algorithms="nccl")
    assert {row.algorithm for row in policy.rows} <= set(theirs)
    slower = collsim.degrade(cluster, "nic[3]", 0.5)
    (row,) = collsim.predict("all_reduce", slower, 2**28, "nccl", healthy=cluster).rows
    assert row.healthy_us == found[1].time_us


def test_a_profile_has_what_nccl_chooses() -> None:
    """As auto."""
    profile = collsim.load_profile("h100-nvswitch-8")
    cluster = collsim.with_profile(Cluster.load("dgx-h100"), profile)
    fitted = collsim.fitted_times(profile)
    auto, nccl = (
        collsim.predict("all_reduce", cluster, [2**10, 2**30], name, fitted=fitted)
        for name in ("auto", "nccl")
    )
    assert auto == nccl
