"""Measured rows: what they accept, and what they refuse."""

from __future__ import annotations

import dataclasses
import math

import pytest

from collsim.core.measurements import LeftOut, Measurement, Measurements, Source
from collsim.errors import InputError, UnknownNameError


def row(**changes: object) -> Measurement:
    """Return an all_reduce on 8 ranks, changed."""
    fields: dict[str, object] = {
        "collective": "all_reduce",
        "ranks": 8,
        "nbytes": 1024,
        "seconds": 1e-5,
    }
    return Measurement(**{**fields, **changes})  # type: ignore[arg-type]


def test_any_spelling_becomes_the_canonical_name() -> None:
    """`alltoall` is kept as `all_to_all`."""
    assert row(collective="alltoall").collective == "all_to_all"


def test_rows_are_frozen() -> None:
    """A row cannot be changed."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        row().seconds = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("ranks", 0, "ranks: got 0, expected a whole number from 1 up"),
        ("nbytes", -1, "nbytes: got -1, expected a whole number from 0 up"),
        ("nbytes", None, "nbytes: got None, expected a whole number from 0 up"),
        ("nbytes", 1.5, "nbytes: got 1.5, expected a whole number from 0 up"),
        ("count", True, "count: got True, expected a whole number from 0 up"),
        ("nodes", 0, "nodes: got 0, expected a whole number from 1 up"),
        ("nodes", 9, "nodes: got 9, expected at most 8, the ranks"),
        ("seconds", -1e-9, "seconds: got -1e-09, expected a finite time from 0 up"),
        ("seconds", math.nan, "seconds: got nan, expected a finite time from 0 up"),
        ("seconds", math.inf, "seconds: got inf, expected a finite time from 0 up"),
        ("seconds", "1", "seconds: got '1', expected a finite time from 0 up"),
    ],
)
def test_a_field_that_cannot_be_true_is_named(field: str, value: object, message: str) -> None:
    """The error names the field and the value."""
    with pytest.raises(InputError) as caught:
        row(**{field: value})
    assert str(caught.value) == message


def test_an_unknown_collective_is_an_error() -> None:
    """The nearest name is in the error."""
    with pytest.raises(UnknownNameError, match="did you mean 'all_reduce'"):
        row(collective="all_redcue")


def test_measurements_hold_only_rows() -> None:
    """A tuple is no row."""
    with pytest.raises(InputError, match="expected a Measurement"):
        Measurements([("all_reduce", 8)])  # type: ignore[list-item]


def test_measurements_add_up_in_order() -> None:
    """Rows, left-out rows and notes of both are kept."""
    one = Measurements([row(nbytes=1)], [LeftOut("a", 1, "cut")], ["first"])
    two = Measurements([row(nbytes=2)], [], ["second"])
    both = one + two
    assert [r.nbytes for r in both] == [1, 2]
    assert both.left_out == (LeftOut("a", 1, "cut"),)
    assert both.notes == ("first", "second")


def test_values_are_distinct_ascending_and_none_is_last() -> None:
    """Unknown node counts come after the known ones."""
    rows = Measurements([row(nodes=2), row(), row(nodes=1), row(nodes=2)])
    assert rows.values("nodes") == (1, 2, None)


def test_a_source_reads_as_file_and_line() -> None:
    """So that a reader finds the row."""
    assert str(Source("a.log", 12)) == "a.log:12"
    assert str(Source()) == "a row without a file"
