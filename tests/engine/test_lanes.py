"""Lanes for what overlaps in time."""

from __future__ import annotations

import numpy as np

from collsim.engine.lanes import lanes


def test_lanes_are_as_few_as_can_be() -> None:
    """As many as overlap at the busiest time; what takes no time needs one for none."""
    assert lanes(np.array([0, 0, 1, 2]), np.array([2, 1, 3, 2])) == [0, 1, 1, 0]
    assert lanes(np.array([0, 0]), np.array([0, 0])) == [0, 0]
