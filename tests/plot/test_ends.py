"""Names at the ends of curves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from matplotlib.figure import Figure

from collsim.plot.ends import spread


def test_places_with_room_stay() -> None:
    """Nothing is moved that need not be."""
    assert spread([1.0, 3.0, 7.0], 2.0) == [1.0, 3.0, 7.0]
    assert spread([], 1.0) == []


def test_equal_places_spread_around_their_middle() -> None:
    """Three at 5 take 4, 5 and 6."""
    assert spread([5.0, 5.0, 5.0], 1.0) == pytest.approx([4.0, 5.0, 6.0])


def test_one_group_pushes_another() -> None:
    """Two at 0 would take -0.5 and 0.5; with one at 0.9, all three centre on 0.3."""
    found = spread([0.0, 0.0, 0.9], 1.0)
    assert found == pytest.approx([-0.7, 0.3, 1.3])


@pytest.mark.parametrize("gap", [0.1, 1.0, 3.0])
def test_all_are_apart_and_in_order(gap: float) -> None:
    """Whatever they want."""
    wanted = [0.0, 0.01, 0.5, 2.0, 2.0, 2.1, 9.0]
    found = spread(wanted, gap)
    assert all(b - a >= gap - 1e-12 for a, b in pairwise(found))
    assert sum(found) == pytest.approx(sum(wanted))


def test_labels_on_one_another_are_found(apart: Any) -> None:
    """The check that other tests of pictures rest on fails where it must."""
    figure = Figure()
    axes = figure.add_subplot()
    axes.text(0.5, 0.5, "one")
    assert apart(figure) > 10
    axes.text(0.5, 0.5, "other")
    with pytest.raises(AssertionError, match="one"):
        apart(figure)
