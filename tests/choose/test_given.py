"""Rows of a schedule that somebody brings."""

from __future__ import annotations

import pytest

from collsim.algorithms import build
from collsim.choose.given import beside, predict_schedule
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster
from collsim.errors import InputError, UnknownNameError

CLUSTER = Cluster.ideal(4, "1us", "1GB/s")


def test_the_rows_are_those_of_the_algorithm() -> None:
    """The same schedule takes the same time, whoever brings it."""
    ours = predict("all_reduce", CLUSTER, [1000, "1MiB"], "ring", model="event").rows
    rows = predict_schedule(
        build("all_reduce", "ring", 4), "mine", CLUSTER, [1000, "1MiB"]
    ).rows
    assert [row.algorithm for row in rows] == ["mine", "mine"]
    for own, row in zip(ours, rows, strict=True):
        assert (own.size, own.time_us, own.busbw, own.efficiency, own.root) == (
            row.size, row.time_us, row.busbw, row.efficiency, row.root,
        )  # fmt: skip


def test_beside_ours_by_size() -> None:
    """After those of our algorithms at each size."""
    mine = build("broadcast", "linear", 4, root=2)
    own = predict_schedule(mine, "mine", CLUSTER, [8, 800])
    both = beside(predict("broadcast", CLUSTER, [8, 800], "mst", root=2), own)
    assert [(row.size, row.algorithm, row.root) for row in both.rows] == [
        (8, "mst", 2), (8, "mine", 2), (800, "mst", 2), (800, "mine", 2),
    ]  # fmt: skip


def test_beside_a_healthy_cluster() -> None:
    """Its own time there."""
    slow = Cluster.ideal(4, "2us", "1GB/s")
    (row,) = predict_schedule(
        build("broadcast", "mst", 4), "mine", slow, 0, healthy=CLUSTER
    ).rows
    assert (row.time_us, row.healthy_algorithm) == (pytest.approx(4.0), "mine")
    assert (row.healthy_us, row.change) == (pytest.approx(2.0), pytest.approx(2.0))


def test_another_number_of_ranks_is_refused() -> None:
    """Which the schedule is for, and which the cluster has."""
    with pytest.raises(
        InputError, match="mine is a schedule for 3 ranks, and cluster ideal has"
    ):
        predict_schedule(build("broadcast", "mst", 3), "mine", CLUSTER, 8)


def test_types_are_checked() -> None:
    """As for our algorithms."""
    with pytest.raises(UnknownNameError, match="unknown op 'summ'"):
        predict_schedule(build("reduce", "mst", 4), "mine", CLUSTER, 8, op="summ")
