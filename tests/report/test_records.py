"""Rows as mappings."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from collsim.choose.crossover import Jump, Swap
from collsim.errors import InputError
from collsim.report.records import keys_of, record, records


@dataclass(frozen=True)
class Point:
    """A row."""

    x: float
    y: float | None


def test_keys_are_fields() -> None:
    """In their order."""
    assert keys_of(Point) == ("x", "y")
    assert records([Point(1.0, None)]) == [{"x": 1.0, "y": None}]


def test_rows_within_rows() -> None:
    """A jump has numbers of its own."""
    swap = Swap(8.0, 1.0, "a", "b", Jump(1.0, 2.0, 3.0, 4.0))
    assert record(swap)["jump"] == {
        "a_below_us": 1.0,
        "a_above_us": 2.0,
        "b_below_us": 3.0,
        "b_above_us": 4.0,
    }


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -float("inf")])
def test_infinity_is_an_error(value: float) -> None:
    """That names the key; no format has a way to spell it."""
    with pytest.raises(InputError, match=r"^y comes out as (-?inf|nan), expected"):
        record(Point(0.0, value))
