"""What bounds leave out changes no answer, and nothing is run twice."""

from __future__ import annotations

from collections import Counter

import pytest

from collsim.choose.bounds import Bounds, Lines, highest
from collsim.choose.curve import Curve
from collsim.choose.predict import Prediction, predict
from collsim.choose.runs import Runs
from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.engine.simulation import Simulation
from collsim.topology import delay

SIZES = [8, 2**12, 2**20, 2**25, 2**30]
CLUSTERS = {
    "rails": Cluster.load("dgx-h100", nodes=2, gpus_per_node=3),
    "fair": Cluster.load("pcie-8", gpus_per_node=3),
    "mesh": Cluster.load("dgx1-v100", nodes=2, gpus_per_node=2),
    "late": delay(Cluster.load("dgx-a100", nodes=2, gpus_per_node=2), "rank[2]", 3e-5),
}


def without_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no bound exclude anything."""

    def nothing(self: Bounds, *counts: int) -> Lines:
        return [(0.0, 0.0)]

    for name in ("_lines", "_any_chunks", "_from_chunks"):
        monkeypatch.setattr(Bounds, name, nothing)


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("all_reduce", "rails"),
        ("all_reduce", "late"),
        ("broadcast", "fair"),
        ("reduce", "mesh"),
    ],
)
def test_bounds_change_no_answer(
    monkeypatch: pytest.MonkeyPatch, kind: str, where: str
) -> None:
    """Every row of a sweep is that of its size alone, with all that may be tried tried."""
    cluster = CLUSTERS[where]
    shared = [predict(kind, cluster, SIZES, algorithm) for algorithm in ("all", "auto")]
    without_bounds(monkeypatch)
    for algorithm, answer in zip(("all", "auto"), shared, strict=True):
        alone: list[Prediction] = [predict(kind, cluster, size, algorithm) for size in SIZES]
        assert answer.rows == tuple(row for one in alone for row in one.rows)


def test_a_sweep_builds_each_schedule_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for all sizes, and one size runs each of them once at most."""
    built: Counter[tuple[str, int, int]] = Counter()
    runs: Counter[tuple[int, float]] = Counter()
    make, time = Curve._build, Simulation.ends

    def building(self: Curve, chunks: int, channels: int) -> Schedule:
        built[self.name, chunks, channels] += 1
        return make(self, chunks, channels)

    def ending(self: Simulation, nbytes: float, outcome: object) -> float:
        runs[id(self.schedule), nbytes] += 1
        return time(self, nbytes, outcome)  # type: ignore[arg-type]

    monkeypatch.setattr(Curve, "_build", building)
    monkeypatch.setattr(Simulation, "ends", ending)
    predict("all_reduce", CLUSTERS["rails"], SIZES, "all")
    assert len(built) > 20
    assert set(built.values()) == {1}
    assert len(runs) > 100
    assert set(runs.values()) == {1}


def test_a_pipeline_stops_where_its_links_are_too_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 chunks of the tree are best at 1 GiB; 64 only pay more start-ups than that takes."""
    cluster = Cluster.load("dgx-h100", nodes=8)
    curve = Curve("all_reduce", "nvls_tree", cluster)
    best = curve.at(2**30)
    assert best.chunks == 16
    bounds = Bounds(curve.simulation)
    assert highest(bounds.from_chunks(64, 1), 2**30) > best.seconds
    assert (64, 1) not in curve._prepared._simulations


def test_bounds_of_few_chunks_hold_for_many() -> None:
    """What 1, 2 and 4 chunks tell of 8 to 32 is no more than their own bound."""
    for name in ("nvls_tree", "double_binary_tree", "hierarchical", "reduce_broadcast"):
        curve = Curve("all_reduce", name, Cluster.load("dgx-h100", nodes=2, gpus_per_node=4))
        bounds = Bounds(curve.simulation)
        for channels in curve.channels:
            for chunks in (8, 16, 32):
                for size in (1, 2**20, 2**33):
                    told = highest(bounds.from_chunks(chunks, channels), size)
                    own = highest(bounds.lines(chunks, channels), size)
                    assert 0 < told <= own * (1 + 1e-12)


def test_the_fastest_run_is_kept() -> None:
    """Where the time of the best goes is told from its run; another one is run again."""
    cluster = CLUSTERS["rails"]
    curve = Curve("all_reduce", "hierarchical", cluster)
    runs = Runs(2**24, curve.simulation)
    times = {chunks: runs.seconds(chunks, 1) for chunks in (1, 2, 4, 8)}
    for chunks, seconds in times.items():
        again = curve.simulation(chunks).run(2**24)
        assert runs.timed(chunks, 1) == (again.makespan, again.breakdown)
        assert again.makespan == seconds
