"""Check: verdicts, summary, exit."""

from __future__ import annotations

import pytest

from collsim.calibrate.check import CheckResult, check
from collsim.calibrate.check.verdict import verdicts as judge
from collsim.calibrate.fit import fit
from collsim.calibrate.formula import Predicted, formula_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements, Source
from collsim.core.profile import Parameter, Profile
from collsim.errors import InputError, UnknownNameError

SIZES = tuple(4**k for k in range(3, 14))
# Two ranks: 2 alpha + n beta; latency and transfer are equal at 20 kB.
MODEL = formula_of(alpha=1e-5, beta=1e-9, launch=0.0, algorithm="ring")


def measured(latency: float = 1.0, transfer: float = 1.0, **fields: object) -> Measurements:
    """Return rows whose latency and transfer are multiples of the model's."""
    return Measurements(
        Measurement("all_reduce", 2, n, latency * 2e-5 + transfer * n * 1e-9, **fields)  # type: ignore[arg-type]
        for n in SIZES
    )


def verdicts(result: CheckResult) -> list[str]:
    """Return the verdict of each row."""
    return [row.verdict for row in result.rows]


def test_times_as_predicted_are_ok() -> None:
    """A sentence says so."""
    result = check(measured(), MODEL)
    assert set(verdicts(result)) == {"ok"}
    assert result.ok
    assert result.summary == (
        "all_reduce on 2 ranks: all 11 rows within 20% of the prediction."
    )


def test_slow_links_fall_short_of_bandwidth() -> None:
    """Three times beta: what is late at small sizes is so by its bytes."""
    result = check(measured(transfer=3), MODEL)
    assert verdicts(result) == ["ok"] * 3 + ["bandwidth"] * 8
    assert not result.ok


def test_late_messages_fall_short_of_latency_only() -> None:
    """Five times alpha: large sizes that are late by the same seconds are not bandwidth's."""
    result = check(measured(latency=5), MODEL)
    assert set(verdicts(result)) == {"latency", "ok"}
    assert verdicts(result)[0] == "latency"
    assert result.summary == (
        "all_reduce on 2 ranks: latency is too long up to 256KiB, "
        "4.32 times the predicted time (7 of 11 rows)."
    )


def test_both_may_fall_short() -> None:
    """Five times alpha and three times beta."""
    result = check(measured(latency=5, transfer=3), MODEL)
    found = verdicts(result)
    assert found == ["latency"] * 3 + ["both"] * 4 + ["bandwidth"] * 4
    assert result.summary == (
        "all_reduce on 2 ranks: latency is too long and bandwidth falls short between 4KiB "
        "and 256KiB, "
        "3.78 times the predicted time (4 of 11 rows); latency is too long up to 1KiB, "
        "4.97 times the predicted time (3 of 11 rows); bandwidth falls short from 1MiB on, "
        "3.01 times the predicted time (4 of 11 rows)."
    )


def test_faster_is_no_failure() -> None:
    """The model is too slow there; the machine is fine."""
    result = check(measured(latency=0.5, transfer=0.5), MODEL)
    assert set(verdicts(result)) == {"faster"}
    assert result.ok
    assert result.summary == (
        "all_reduce on 2 ranks: faster than predicted by more than 20% in 11 of 11 rows."
    )


@pytest.mark.parametrize(
    ("factor", "tolerance", "verdict"),
    [
        (1.19, 0.2, "ok"),
        (1.21, 0.2, "latency"),
        (1.21, 0.25, "ok"),
        (0.84, 0.2, "ok"),
        (0.83, 0.2, "faster"),
        (1.0, 0.0, "ok"),
        (1.01, 0.0, "latency"),
    ],
)
def test_the_tolerance_is_a_ratio_both_ways(
    factor: float, tolerance: float, verdict: str
) -> None:
    """From 1 / (1 + t) to 1 + t is ok."""
    rows = Measurements(
        [Measurement("all_reduce", 2, 1000, factor * MODEL("all_reduce", 2, 1000).seconds)]
    )
    assert verdicts(check(rows, MODEL, tolerance)) == [verdict]


def test_rows_carry_the_contract_s_numbers() -> None:
    """Microseconds and measured / predicted."""
    row = check(measured(transfer=3), MODEL).rows[-1]
    n = SIZES[-1]
    assert (row.collective, row.ranks, row.nodes, row.size) == ("all_reduce", 2, None, n)
    assert row.measured_us == pytest.approx(20 + n * 3e-3)
    assert row.predicted_us == pytest.approx(20 + n * 1e-3)
    assert row.ratio == pytest.approx(row.measured_us / row.predicted_us)


def test_groups_are_judged_apart() -> None:
    """A slow collective does not excuse another; each has its sentence."""
    gather = Measurements(
        Measurement("all_gather", 2, n, 5 * (1e-5 + n / 2 * 1e-9), nodes=2) for n in SIZES
    )
    result = check(gather + measured(), MODEL)
    assert result.summary.startswith(
        "all_gather on 2 ranks of 2 nodes: latency is too long and"
    )
    assert result.summary.endswith(
        "all_reduce on 2 ranks: all 11 rows within 20% of the prediction."
    )
    assert [row.collective for row in result.rows] == ["all_gather"] * 11 + ["all_reduce"] * 11


def test_a_log_of_large_sizes_only_is_bandwidths() -> None:
    """Without small sizes nothing says that latency is at fault."""
    rows = Measurements(row for row in measured(transfer=3) if row.nbytes > 10**6)
    assert set(verdicts(check(rows, MODEL))) == {"bandwidth"}


def test_a_profile_predicts_with_its_own_algorithm() -> None:
    """The profile of a log fits that log."""
    assert check(measured(), fit(measured()).profile).ok


def test_another_algorithm_may_be_asked_for() -> None:
    """MST all_reduce on 4 ranks pays 4 alphas and 4 n beta, ring 6 and 1.5."""
    rows = Measurements([Measurement("all_reduce", 4, 10**9, 4.0)])
    assert check(rows, _profile(), algorithm="mst").rows[0].ratio == pytest.approx(
        1.0, rel=1e-3
    )
    assert check(rows, _profile()).rows[0].ratio == pytest.approx(4 / 1.5, rel=1e-3)


def test_an_ideal_cluster_predicts() -> None:
    """By the formula, with its launch."""
    cluster = Cluster.ideal(2, alpha=1e-5, bandwidth=1e9, launch=1e-3)
    row = check(measured(), cluster).rows[0]
    assert row.predicted_us == pytest.approx(1000 + 20 + 0.064)


def test_any_model_can_be_plugged_in() -> None:
    """A function of collective, ranks and bytes."""
    result = check(measured(), lambda c, p, n: Predicted(1.0, 0.5, 0.5))
    assert {row.predicted_us for row in result.rows} == {1e6}


def test_what_is_not_compared_is_said() -> None:
    """Rows of 0 bytes; another process model; sizes beyond the fit."""
    rows = measured(source=Source("a.log", 1, process_model="one process"))
    rows += Measurements([Measurement("all_reduce", 2, 0, 1e-6)])
    profile = _profile(process_model="process per GPU", min_bytes=1024, max_bytes=2048)
    assert check(rows, profile).notes == (
        "1 row left out: 0 bytes, where libraries return without communication",
        "rows of one process, but the profile was fitted to process per GPU",
        "some sizes lie outside 1KiB to 2KiB, which the profile was fitted to",
    )


@pytest.mark.parametrize("tolerance", [-0.1, float("nan"), float("inf")])
def test_a_tolerance_that_is_none_is_refused(tolerance: float) -> None:
    """Negative, nan, infinite."""
    with pytest.raises(
        InputError, match=r"tolerance: got .*, expected a finite number from 0 up"
    ):
        check(measured(), MODEL, tolerance)


def test_nothing_to_check_is_an_error() -> None:
    """One rank only."""
    rows = Measurements([Measurement("all_reduce", 1, 8, 1e-6)])
    with pytest.raises(InputError, match="no row to check: 1 row left out: one rank, where"):
        check(rows, MODEL)


def test_a_model_of_no_time_is_an_error() -> None:
    """A ratio to 0 is no ratio."""
    free = formula_of(0.0, 0.0, 0.0, "ring")
    with pytest.raises(InputError, match="all_reduce of 64B is predicted to take no time"):
        check(measured(), free)


def test_a_profile_of_two_classes_needs_more_than_a_formula() -> None:
    """The error names the classes."""
    link = _profile().parameters
    both = {
        key.replace("link", c): value for c in ("nvlink", "ib") for key, value in link.items()
    }
    with pytest.raises(
        InputError, match="has link classes nvlink, ib, expected one with alpha"
    ):
        check(measured(), Profile("two", both))


def test_an_unknown_algorithm_names_the_nearest() -> None:
    """As everywhere."""
    with pytest.raises(UnknownNameError, match="did you mean 'ring'"):
        check(measured(), _profile(), algorithm="rng")


def _profile(**fields: object) -> Profile:
    parameters = {
        "link.alpha": Parameter(1e-5, None, None, "s"),
        "link.beta": Parameter(1e-9, None, None, "s/B"),
    }
    return Profile("p", parameters, **fields)  # type: ignore[arg-type]


def test_where_latency_is_as_predicted_the_fault_is_bandwidth() -> None:
    """A row whose predicted latency is the larger part, too, if all large ones are slow."""
    small, middle = Predicted(2.0, 1.8, 0.2), Predicted(4.0, 2.2, 1.8)
    model = [small, small, middle, Predicted(100.0, 2.0, 98.0)]
    found = judge([2.0, 2.0, 8.0, 500.0], model, 0.2)
    assert found == ["ok", "ok", "bandwidth", "bandwidth"]
