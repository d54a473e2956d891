"""Predictions from fitted times."""

from __future__ import annotations

import pytest

from collsim.calibrate.nccl_model import example_profile, fitted_of
from collsim.choose.predict import predict
from collsim.config.fitted import with_profile
from collsim.core.cluster import Cluster

EIGHT = Cluster.load("dgx-h100")
PROFILE = example_profile(EIGHT)
FITTED = fitted_of(PROFILE)
CLUSTER = with_profile(EIGHT, PROFILE)
SIZES = [1024, 2**20, 2**30]


def test_auto_is_what_nccl_chooses() -> None:
    """Algorithm by our name, its protocol, and the model fit."""
    rows = predict("all_reduce", CLUSTER, SIZES, fitted=FITTED).rows
    assert [(r.algorithm, r.protocol, r.model) for r in rows] == [
        ("ring", "ll", "fit"),
        ("ring", "ll", "fit"),
        ("nvls", "simple", "fit"),
    ]
    times = [FITTED.seconds("all_reduce", 8, 1, n) * 1e6 for n in SIZES]
    assert [r.time_us for r in rows] == times


@pytest.mark.parametrize(
    ("ours", "theirs"), [("ring", "ring"), ("double_binary_tree", "tree"), ("nvls", "nvls")]
)
def test_an_algorithm_of_nccl_has_its_best_protocol(ours: str, theirs: str) -> None:
    """Whatever NCCL would choose."""
    for row in predict("all_reduce", CLUSTER, SIZES, ours, fitted=FITTED).rows:
        protocol, seconds = FITTED.named("all_reduce", 8, 1, row.size, theirs)
        assert (row.algorithm, row.protocol, row.model) == (ours, protocol, "fit")
        assert row.time_us == seconds * 1e6


def test_what_nccl_lacks_is_timed_on_the_cluster() -> None:
    """An algorithm, a collective, or a model that is asked for."""
    (swing,) = predict("all_reduce", CLUSTER, 1024, "swing", fitted=FITTED).rows
    assert (swing.protocol, swing.model) == (None, "formula")
    (gather,) = predict("gather", CLUSTER, 1024, fitted=FITTED).rows
    assert gather.protocol is None
    (event,) = predict("all_reduce", CLUSTER, 1024, "ring", fitted=FITTED, model="event").rows
    assert event.model == "event"


def test_all_has_each_algorithm_once() -> None:
    """Fitted where there is a time, simulated else."""
    rows = predict("all_reduce", CLUSTER, 1024, "all", fitted=FITTED).rows
    names = [row.algorithm for row in rows]
    assert len(names) == len(set(names))
    assert {row.algorithm for row in rows if row.model == "fit"} == {
        "ring", "double_binary_tree", "nvls",
    }  # fmt: skip
    assert "swing" in names


def test_all_to_all_is_direct() -> None:
    """A send and a receive per peer."""
    (row,) = predict("all_to_all", CLUSTER, 2**30, fitted=FITTED).rows
    assert (row.algorithm, row.protocol, row.model) == ("direct", "simple", "fit")


@pytest.mark.parametrize("size", [0, 1, 1000, 2**20, 2**33])
def test_parts_make_the_time(size: int) -> None:
    """Launch, what 0 bytes take, and the rest; never below the lower bound."""
    (row,) = predict("all_reduce", CLUSTER, size, fitted=FITTED).rows
    parts = row.launch_us + row.alpha_us + row.beta_us
    assert parts == pytest.approx(row.time_us)
    assert min(row.launch_us, row.alpha_us, row.beta_us) >= 0
    assert row.lower_bound_us <= row.time_us


def test_one_rank_takes_no_time() -> None:
    """As without a profile."""
    (row,) = predict("all_reduce", Cluster.ideal(1, 1e-6, 1e9), 8, fitted=FITTED).rows
    assert row.time_us == 0
