"""Predictions from fitted times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.calibrate.nccl_model import example_profile, fitted_of
from collsim.calibrate.nccl_model.system import Selector
from collsim.choose.predict import predict
from collsim.config.fitted import with_profile
from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.nccl import communicator, tuning

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


@pytest.mark.parametrize(
    ("dtype", "op"), [("float", "prod"), ("float", "avg"), ("int8", "sum")]
)
@pytest.mark.parametrize("name", ["auto", "nccl", "all"])
def test_nccl_takes_no_switch_for_what_it_does_not_add_up(
    dtype: str, op: str, name: str
) -> None:
    """Its choice is by the type and the reduction, as its own table has it."""
    rows = predict("all_reduce", CLUSTER, 2**30, name, dtype=dtype, op=op, fitted=FITTED).rows
    table = tuning(communicator(EIGHT)).choice("all_reduce", 2**30, dtype=dtype, op=op)
    fit = [row for row in rows if row.model == "fit"]
    assert (table.algorithm, table.protocol) in {(r.algorithm, r.protocol) for r in fit}
    assert not any(row.algorithm.startswith("nvls") for row in rows)
    plain = predict("all_reduce", EIGHT, 2**30, name, dtype=dtype, op=op)
    assert not any(row.algorithm.startswith("nvls") for row in plain.rows)


def test_where_the_table_does_not_tell_it_is_the_fastest_that_can_run() -> None:
    """No row's scatter brings NVLS back for a product."""
    fastest = replace(FITTED, selector=Selector(scale=0.0))
    assert fastest.choice("all_reduce", 8, 1, 2**30)[0] == "nvls"
    assert fastest.choice("all_reduce", 8, 1, 2**30, op="prod")[0] != "nvls"


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_rows_have_the_root_that_is_asked_for(kind: str) -> None:
    """Fitted as simulated ones; a root that is no rank is refused."""
    rows = predict(kind, CLUSTER, 1024, ["ring", "mst"], root=3, fitted=FITTED).rows
    assert [(row.root, row.model) for row in rows] == [(3, "fit"), (3, "formula")]
    with pytest.raises(InputError, match="root"):
        predict(kind, CLUSTER, 1024, "ring", root=8, fitted=FITTED)


def test_what_nccl_chooses_is_no_second_row() -> None:
    """Where it is one of those that are named."""
    rows = predict("all_reduce", CLUSTER, [1024, 2**30], "nccl,ring", fitted=FITTED).rows
    assert [row.algorithm for row in rows] == ["ring", "nvls", "ring"]
