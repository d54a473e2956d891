"""What people know of collectives on clusters comes out of the simulation."""

import numpy as np
import pytest

from collsim.choose.crossover import crossover
from collsim.choose.policy import choose
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster

NDR = 50.0  # GB/s of a NIC of dgx-h100, one per GPU


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_all_to_all_approaches_the_rate_of_the_nics(nodes: int) -> None:
    """Every GPU sends (N-1)/N of its n through its NIC: busbw = NIC (P-1)/P N/(N-1)."""
    cluster = Cluster.load("dgx-h100", nodes=nodes)
    (row,) = predict("all_to_all", cluster, ["16GiB"]).rows
    ranks = cluster.ranks
    limit = NDR * (ranks - 1) / ranks * nodes / (nodes - 1)
    assert 0.99 * limit < row.busbw < limit


def test_latency_of_the_ring_is_linear_and_of_the_tree_logarithmic() -> None:
    """At 8 bytes: 2(P-1) steps of the ring, 2 log P of MST, on 8 to 128 GPUs of one switch."""
    ranks = np.array([8, 16, 32, 64, 128])
    clusters = [Cluster.load("gb200-nvl72", nodes=1, gpus_per_node=int(p)) for p in ranks]
    ring, mst = (
        np.array(
            [predict("all_reduce", c, [8], algorithm=name).rows[0].time_us for c in clusters]
        )
        for name in ("ring", "mst")
    )
    per_step = ring / (2 * (ranks - 1))
    assert per_step == pytest.approx(per_step[0])
    assert mst / np.log2(ranks) == pytest.approx(mst[0] / 3)
    assert np.all(np.diff(np.log(ring)) > 0.68)


@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_latency_over_nodes_keeps_the_same_two_laws(nodes: int) -> None:
    """Twice the nodes: twice the ring's time, one more step up and one more down a tree."""
    one, two = (Cluster.load("dgx-h100", nodes=n) for n in (nodes, 2 * nodes))

    def time(cluster: Cluster, name: str) -> float:
        return predict("all_reduce", cluster, [8], algorithm=name).rows[0].time_us

    assert 1.9 < time(two, "ring") / time(one, "ring") < 2.2
    first, second = (Cluster.load("dgx-h100", nodes=n) for n in (1, 2))
    step = time(second, "mst") - time(first, "mst")
    assert time(two, "mst") - time(one, "mst") == pytest.approx(step)


def test_all_reduce_on_the_ideal_network_is_what_the_algebra_says() -> None:
    """Eight ranks, 10 us, 450 GB/s: 3(α + nβ) = 6α + 7/4 nβ at n = 12/5 α/β = 10.8 MB.

    Below, recursive doubling; above, an algorithm that sends 7/4 n. Never slower than the
    better of MST, 6(α + nβ), and ring, 14α + 7/4 nβ, which swap at 8α = 17/4 nβ.
    """
    alpha, rate = 10e-6, 450e9
    cluster = Cluster.ideal(8, alpha, rate)
    small, large = choose("all_reduce", cluster).rows
    assert (small.algorithm, large.algorithm) == ("recursive_doubling", "halving_doubling")
    assert large.min_bytes == pytest.approx(12 / 5 * alpha * rate, abs=1)
    (swap,) = crossover("all_reduce", "mst", "ring", cluster).rows
    assert swap.size == pytest.approx(8 * 4 / 17 * alpha * rate, rel=1e-9)
    for nbytes in 2.0 ** np.arange(3, 34):
        best, mst, ring = (
            predict("all_reduce", cluster, [nbytes], algorithm=name).rows[0].time_us
            for name in ("auto", "mst", "ring")
        )
        assert best <= min(mst, ring)
    (row,) = predict("all_reduce", cluster, [2**33]).rows
    assert row.time_us == pytest.approx((6 * alpha + 7 / 4 * 2**33 / rate) * 1e6)
