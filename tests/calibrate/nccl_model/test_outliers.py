"""Which rows stand out."""

from __future__ import annotations

import pytest

from collsim.calibrate.nccl_model import outliers
from collsim.core.measurements import Measurement


def rows(times: list[float]) -> list[Measurement]:
    """Return rows of rising sizes."""
    return [Measurement("all_reduce", 8, 2**k, t * 1e-6) for k, t in enumerate(times, 10)]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([10, 10, 13.1, 10], [2]),
        ([10, 10, 12.9, 10], []),
        # A jump up is no outlier, and neither is the last row.
        ([10, 10, 20, 21], []),
        ([10, 10, 20], []),
        # The first is, past 1.3 times the second.
        ([14, 10, 10], [0]),
        ([10], []),
        ([10, 30], []),
    ],
)
def test_a_row_stands_out_beside_both_neighbours(
    times: list[float], expected: list[int]
) -> None:
    """By more than 1.3 times."""
    assert [i for i, out in enumerate(outliers(rows(times))) if out] == expected


def test_series_are_looked_at_apart() -> None:
    """Neighbours are of the same collective, ranks and nodes, wherever they are listed."""
    slow = [Measurement("all_gather", 8, 2**k, 1e-3) for k in (10, 11, 12)]
    mixed = [row for pair in zip(rows([10, 10, 10]), slow, strict=True) for row in pair]
    assert not any(outliers(mixed))


@pytest.mark.parametrize(
    ("times", "places"),
    [
        ([9, 20, 9, 9], [1]),
        ([20, 9, 9, 9], [0]),
        ([9, 9, 20], []),
        ([9, 9, 20, 9], [2]),
        ([13, 10, 9], []),
        ([13.01, 10, 9], [0]),
        ([9, 13, 10, 9], []),
        ([9, 13.01, 10, 9], [1]),
        ([5], []),
    ],
)
def test_a_row_stands_out_beside_both_its_neighbours(
    times: list[float], places: list[int]
) -> None:
    """By more than 1.3 times; the first beside the second, the last never."""
    made = rows(times)
    assert [i for i, out in enumerate(outliers(made)) if out] == places
    # In whatever order they come.
    assert outliers(made[::-1]) == outliers(made)[::-1]
