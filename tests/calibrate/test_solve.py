"""Relative least squares: identifiability, bounds, intervals."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.calibrate.solve import solve, told_apart


def test_columns_that_are_multiples_are_not_told_apart() -> None:
    """Launch and alpha of one collective on one rank count always come together."""
    design = np.array([[1.0, 14.0, n] for n in (8.0, 1e4, 1e8)])
    assert not told_apart(design, np.array([1e-5, 2e-5, 3e-3]))


def test_two_rank_counts_tell_launch_from_alpha() -> None:
    """2(P-1) of 2 and 8 ranks are 2 and 14."""
    design = np.array([[1.0, a, n] for a in (2.0, 14.0) for n in (8.0, 1e4, 1e8)])
    assert told_apart(design, np.array([1e-5, 2e-5, 3e-3] * 2))


def test_a_column_of_zeros_is_not_told() -> None:
    """Rows of 0 bytes say nothing about beta."""
    assert not told_apart(np.array([[14.0, 0.0], [2.0, 0.0]]), np.ones(2))


def test_fewer_rows_than_columns_are_not_enough() -> None:
    """Two rows for three parameters."""
    assert not told_apart(np.array([[1.0, 2.0, 3.0], [1.0, 5.0, 4.0]]), np.ones(2))


def test_parameters_are_never_negative() -> None:
    """Falling times would want a negative second parameter; it is 0."""
    found = solve(np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 4.0]]), np.array([4.0, 2.0, 1.0]))
    assert found.values[1] == 0.0
    assert found.values[0] > 0.0


def test_as_many_rows_as_parameters_give_no_interval() -> None:
    """Nothing is left to estimate scatter from."""
    found = solve(np.array([[1.0, 1.0], [1.0, 2.0]]), np.array([3.0, 4.0]))
    assert found.values == pytest.approx((2.0, 1.0))
    assert found.half_widths is None


def test_residuals_are_relative() -> None:
    """For one parameter and times 1 and 3: sum t^-1 / sum t^-2 = (4/3) / (10/9) = 1.2."""
    found = solve(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    assert found.values == pytest.approx((1.2,))


def test_the_interval_is_students() -> None:
    """Residuals 0.2 and -0.6, one degree of freedom: 12.706 * sqrt(0.4 / (10/9)) = 7.624."""
    found = solve(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    assert found.half_widths == pytest.approx((7.6237,), rel=1e-4)
