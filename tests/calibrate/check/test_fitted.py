"""What a profile of NCCL expects of measured rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.calibrate.check import check
from collsim.calibrate.check.fitted import FittedExpectation
from collsim.calibrate.nccl_model import example_profile, fitted_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements
from collsim.errors import InputError

PROFILE = example_profile(Cluster.load("dgx-h100"))
TRUTH = fitted_of(PROFILE)
ROWS = [
    Measurement("all_reduce", 8, 2**k, TRUTH.seconds("all_reduce", 8, 1, 2**k))
    for k in range(10, 31)
]


def test_times_of_the_same_system_are_ok() -> None:
    """Every row, by NCCL's own choice."""
    found = check(Measurements(ROWS), PROFILE)
    assert found.ok
    assert {row.model for row in found.rows} == {"fit"}
    assert {round(row.ratio, 9) for row in found.rows} == {1.0}


def test_half_the_bandwidth_is_said_to_fall_short() -> None:
    """From some size on."""
    slow = [replace(row, seconds=row.seconds + row.nbytes * 5e-12) for row in ROWS]
    found = check(Measurements(slow), PROFILE)
    assert not found.ok
    assert "bandwidth falls short from" in found.summary


def test_a_piece_that_the_log_names_is_expected() -> None:
    """Whatever NCCL would choose; an option wins over the log."""
    row = replace(ROWS[-1], algorithm="ring", protocol="ll")
    expect = FittedExpectation(PROFILE)
    assert expect(row).seconds == TRUTH.seconds("all_reduce", 8, 1, row.nbytes, "ring", "ll")
    named = FittedExpectation(PROFILE, "nvls")(row)
    assert named.seconds == TRUTH.seconds("all_reduce", 8, 1, row.nbytes, "nvls")


def test_what_nccl_lacks_is_simulated() -> None:
    """An algorithm, or a collective."""
    assert FittedExpectation(PROFILE, "swing")(ROWS[0]).model == "formula"
    gather = replace(ROWS[0], collective="gather")
    assert FittedExpectation(PROFILE)(gather).model in ("formula", "event")


def test_rows_of_several_nodes_are_refused_by_a_profile_of_one() -> None:
    """The line of the log is named."""
    with pytest.raises(InputError, match="measured on 2 nodes, but profile example was fitted"):
        check(Measurements([replace(ROWS[0], ranks=16, nodes=2)]), PROFILE)


def test_a_row_of_a_product_is_expected_of_no_switch() -> None:
    """As predicted by the same profile."""
    row = replace(ROWS[-1], op="prod", dtype="float")
    expected = FittedExpectation(PROFILE)(row)
    assert expected.seconds == TRUTH.seconds("all_reduce", 8, 1, row.nbytes, "ring", "simple")
    assert expected.seconds != FittedExpectation(PROFILE)(ROWS[-1]).seconds
