"""What people know of collectives on clusters comes out of the simulation."""

import numpy as np
import pytest

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
