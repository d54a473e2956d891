"""Rows are held against a cluster of their own size, by formula or by simulation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.calibrate.check import check
from collsim.calibrate.match import profile_notes
from collsim.calibrate.predictor import predictor_of
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements, Source
from collsim.core.profile import Parameter, Profile
from collsim.errors import InputError

NUMBERS = {
    "link.alpha": Parameter(1e-5, None, None, "s"),
    "link.beta": Parameter(1e-9, None, None, "s/B"),
}


def measured(ranks: int, nodes: int | None, name: str = "all_reduce") -> Measurements:
    """Return two rows that took a second."""
    return Measurements(Measurement(name, ranks, n, 1.0, nodes=nodes) for n in (1024, 2**24))


@pytest.mark.parametrize("name", ["all_reduce", "broadcast", "sendrecv"])
def test_two_nodes_are_simulated_as_predict_does(name: str) -> None:
    """No formula is exact there; chunks are the best ones in both."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    algorithm = "direct" if name == "sendrecv" else "ring"
    found = check(measured(16, 2, name), cluster).rows
    expected = predict(name, cluster, [1024, 2**24], algorithm).rows
    assert [row.model for row in found] == ["event", "event"]
    assert [(row.predicted_us, row.chunks) for row in found] == [
        (row.time_us, row.chunks) for row in expected
    ]


def test_a_simulated_time_is_split_into_latency_and_the_rest() -> None:
    """Alpha and launch are latency; they do not grow with the size."""
    model = predictor_of(Cluster.load("dgx-h100", nodes=2), "ring")
    small, large = (model("all_gather", 16, n) for n in (16, 2**33))
    assert small.latency == pytest.approx(large.latency, rel=0.01)
    assert large.transfer > 50 * large.latency
    assert small.transfer < 0.01 * small.latency


def test_gamma_counts_where_something_is_reduced() -> None:
    """7/8 of the bytes twice sent, once reduced: 1.75 + 0.875."""
    cluster = Cluster.ideal(8, 0.0, 1.0, gamma=1.0)
    row = check(measured(8, 1), cluster, algorithm="ring").rows[0]
    assert row.predicted_us * 1e-6 == pytest.approx(1024 * (1.75 + 0.875))


def test_an_ideal_network_takes_the_rank_count_of_the_log() -> None:
    """14 alphas for 8 ranks, 126 for 64; that it knows no nodes is said."""
    cluster = Cluster.ideal(8, alpha=1e-3, bandwidth=1e15)
    found = check(measured(64, 8), cluster)
    assert found.rows[0].predicted_us == pytest.approx(126e3)
    note = "an ideal network has no nodes: rows of 8 nodes are compared with ranks joined"
    assert found.notes == (f"{note} all alike",)


@pytest.mark.parametrize(
    ("ranks", "nodes", "size", "cure"),
    [
        (64, 8, {}, "give --nodes 8"),
        (4, 1, {}, "give --ranks 4"),
        (4, None, {}, "give --ranks 4"),
        (16, None, {}, "give --nodes 2"),
        (12, None, {}, "give --nodes and --gpus-per-node"),
        (10, 10, {}, "give --nodes 10 --gpus-per-node 1"),
        (8, 2, {}, "give --nodes 2 --gpus-per-node 4"),
        (8, 1, {"nodes": 2}, "give --nodes 1"),
    ],
)
def test_another_size_than_the_clusters_is_refused(
    ranks: int, nodes: int | None, size: dict[str, int], cure: str
) -> None:
    """The error names both sizes and the options that make them one."""
    cluster = Cluster.load("dgx-h100", **size)
    with pytest.raises(InputError) as caught:
        check(measured(ranks, nodes), cluster)
    message = str(caught.value)
    assert message.startswith(f"a row without a file: measured on {ranks} ranks")
    assert f"but cluster dgx-h100 has {cluster.ranks} ranks of" in message
    assert message.endswith(f"; {cure}")


def test_several_sizes_are_to_be_chosen_from() -> None:
    """One cluster has one size."""
    with pytest.raises(InputError, match=r"give --ranks 4, and choose .* 'ranks == 4'"):
        check(measured(8, 1) + measured(4, 1), Cluster.load("dgx-h100"))


def test_a_cluster_with_a_profile_takes_its_algorithm_and_chunks() -> None:
    """Broadcast by the formula with 3 chunks, and what differs is noted."""
    profile = Profile("p", NUMBERS, chunks=3, nodes=(1,))
    cluster = Cluster.ideal(8, 1e-5, 1e9)
    found = check(measured(8, 2, "broadcast"), cluster, profile=profile)
    assert found.rows[0].chunks == 3
    assert found.rows[0].predicted_us == pytest.approx((8 - 2 + 3) * (10 + 1.024 / 3))
    assert "rows of 2 nodes, but the profile was fitted to 1 node" in found.notes


def test_a_profile_that_says_less_has_fewer_notes() -> None:
    """What is not known on one side cannot differ."""
    rows = measured(8, None)
    assert profile_notes(rows.rows, Profile("p", NUMBERS, nodes=(1,))) == []


def test_busy_ports_of_a_profile_are_simulated() -> None:
    """With alpha_busy = 0 the formula is not exact: latency overlaps."""
    busy = {**NUMBERS, "link.alpha_busy": Parameter(0.0, None, None, "s")}
    found = check(measured(8, 1, "broadcast"), Profile("p", busy, algorithm="linear")).rows
    assert {row.model for row in found} == {"event"}


def test_a_log_that_a_profile_was_fitted_to_is_named() -> None:
    """By its name, whatever the folder, if the rows can be of it."""
    source = Source(file="/there/mine.txt")
    row = Measurement("all_reduce", 8, 1024, 1e-5, nodes=1, source=source)
    seen = {"collectives": ("all_reduce",), "ranks": (8,), "min_bytes": 8, "max_bytes": 2048}
    profile = Profile("p", NUMBERS, sources=("here/mine.txt", "-"), **seen)
    said = "profile p was fitted to this log (by name: mine.txt): that they agree says nothing"
    (note,) = profile_notes([row], profile)
    assert note.startswith(said)
    others = [
        replace(row, nbytes=4096),
        replace(row, ranks=4),
        replace(row, collective="broadcast"),
        replace(row, source=Source(file="other.txt")),
        replace(row, source=Source(file="-")),
    ]
    for other in others:
        assert not any("this log" in note for note in profile_notes([other], profile))
