"""NCCL's choice beside the best that it has, in fitted times."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from collsim.calibrate.nccl_model import Fitted, Selector, System, example_profile, fitted_of
from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.interop.nccl_tuner import against_fitted, rules, to_csv, unseen
from collsim.interop.nccl_tuner.fitted import FittedCurve
from collsim.report.against_text import against_text

SYSTEM = System("ampere", 12, 240.0)
BELIEVED = fitted_of(example_profile(Cluster.load("dgx-a100")))
TABLE = SYSTEM.table(8, 1)


def shown(**values: float) -> Fitted:
    """Return a fit whose rows have shown every ring, with some parameters as given."""
    given = {key.replace("__", "."): value for key, value in values.items()}
    sure = {key: 0.05 if "inside" in key else s for key, s in BELIEVED.log_sigma.items()}
    return replace(BELIEVED, values=BELIEVED.values | given, log_sigma=sure)


def test_rows_cover_all_sizes_without_a_gap() -> None:
    """And each has the choice of NCCL's table, whatever its channels."""
    found = against_fitted("all_gather", shown(), TABLE)
    assert (found.rows[0].min_bytes, found.rows[-1].max_bytes) == (8, 2**33)
    for one, two in pairwise(found.rows):
        assert one.max_bytes + 1 == two.min_bytes
    for row in found.rows:
        choice = TABLE.choice("all_gather", row.size)
        assert (row.nccl_algorithm, row.nccl_protocol) == (choice.algorithm, choice.protocol)
        assert row.nccl_model_us == TABLE.time_us(
            "all_gather", row.nccl_algorithm, row.nccl_protocol, row.size
        )
        ends = [TABLE.choice("all_gather", n).channels for n in (row.min_bytes, row.max_bytes)]
        assert [row.nccl_channels_from, row.nccl_channels_to] == ends
    assert found.fitted
    assert found.measured


def test_a_protocol_that_is_faster_is_taken() -> None:
    """LL128 that starts at once beats LL; the tuner's file says so, at exactly those sizes."""
    fitted = shown(inside__ll128__alpha=0.1e-6, inside__ll128__extra=0.1e-6)
    found = against_fitted("all_gather", fitted, TABLE)
    gained = [row for row in found.rows if row.gained]
    assert gained
    assert {(row.best_algorithm, row.best_protocol) for row in gained} == {("ring", "ll128")}
    for row in gained:
        for n in (row.min_bytes, row.size, row.max_bytes):
            own = FittedCurve(fitted, "all_gather", 8, 1, "ring", row.nccl_protocol).seconds(n)
            best = FittedCurve(fitted, "all_gather", 8, 1, "ring", "ll128").seconds(n)
            assert own / best >= 1.02
    made = rules(TABLE, found)
    first = next(rule for rule in made if rule.max_bytes >= gained[0].size)
    assert (first.algorithm, first.protocol) == ("ring", "ll128")


def test_protocols_are_told() -> None:
    """In the paragraph, the table and the tuner's file, which asks for no measuring first."""
    fitted = shown(inside__ll128__alpha=0.1e-6, inside__ll128__extra=0.1e-6)
    found = against_fitted("all_gather", fitted, TABLE)
    assert {(row.nccl_protocol, row.best_protocol) for row in found.changes()} >= {
        ("ll", "ll128")
    }
    text = against_text(found, "8 ranks of a machine")
    assert "times as long as ring/ll128 from" in text
    assert "gain are fitted" in text
    lines = to_csv(rules(TABLE, found), [found], [])
    assert "ring/ll128 for its ring/ll, x" in lines
    assert "NCCL's model says x" in lines
    assert "measure with" not in lines


def test_what_no_row_has_shown_is_no_candidate() -> None:
    """Its times are NCCL's own constants, against which nothing is to be said."""
    found = against_fitted("all_reduce", shown(), TABLE)
    assert unseen(shown(), TABLE, "all_reduce") == ["tree/ll", "tree/ll128", "tree/simple"]
    assert found.available == ("ring/ll", "ring/ll128", "ring/simple")
    with pytest.raises(InputError, match="all_reduce: no row of the fit shows anything"):
        against_fitted("all_reduce", BELIEVED, TABLE)


def test_gains_below_the_least_are_none() -> None:
    """However small the least is, the choice and the best are never told apart by less."""
    fitted = shown(inside__ll128__alpha=0.1e-6, inside__ll128__extra=0.1e-6)
    found = against_fitted("all_gather", fitted, TABLE, min_gain=100.0)
    assert not any(row.gained for row in found.rows)
    found = against_fitted("all_gather", fitted, TABLE, min_gain=0.0)
    for row in found.rows:
        pair = (row.nccl_algorithm, row.nccl_protocol)
        assert not row.gained or pair != (row.best_algorithm, row.best_protocol)


def test_what_is_not_told_by_a_table_is_the_fastest() -> None:
    """Over all sizes without a gap, and as predictions have it."""
    fitted = replace(shown(), selector=Selector(0.0))
    found = against_fitted("all_gather", fitted, TABLE, min_bytes=100, max_bytes=2**30)
    assert not found.by_table
    assert (found.rows[0].min_bytes, found.rows[-1].max_bytes) == (100, 2**30)
    assert len(found.rows) > 1
    for row in found.rows:
        for n in (row.min_bytes, row.size, row.max_bytes):
            piece = (row.nccl_algorithm, row.nccl_protocol)
            assert fitted.choice("all_gather", 8, 1, n) == piece
        assert row.most == 1.0
    for one, two in pairwise(found.rows):
        assert one.max_bytes + 1 == two.min_bytes
        assert one.nccl_protocol != two.nccl_protocol


def test_a_gain_beyond_what_was_seen_is_doubtful() -> None:
    """Parted from what is as good, and no change for the tuner's file."""
    fitted = shown(inside__ll128__alpha=0.1e-6, inside__ll128__extra=0.1e-6)
    every = against_fitted("all_gather", fitted, TABLE)
    none = against_fitted("all_gather", fitted, TABLE, held="nobody asked")
    assert not any(row.gained for row in none.rows)
    doubtful = [(r.min_bytes, r.max_bytes) for r in none.rows if r.doubtful]
    assert doubtful == [(r.min_bytes, r.max_bytes) for r in every.rows if r.gained]
    text = against_text(none, "8 ranks of a machine")
    assert "it may take up to" in text
    assert "Where it may, it does not count: nobody asked." in text
    assert "ll128" not in to_csv(rules(TABLE, none)[:1], [], [])
