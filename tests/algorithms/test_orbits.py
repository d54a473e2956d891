"""Groups of ranks under renaming: kept, moved, or torn apart."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms._orbits import orbits
from collsim.core.symmetry import Fold
from collsim.errors import InputError


@pytest.mark.parametrize(
    ("fold", "groups"),
    [
        # Rank 1 comes to the second place of the other group.
        (Fold("shift", 4, 2), [[0, 1], [3, 2]]),
        # Three groups can't be two turns of some.
        (Fold("shift", 6, 3), [[0, 1], [2, 3], [4, 5]]),
        # One goes on to where no group begins.
        (Fold("shift", 8, 4), [[0, 1], [5, 6]]),
        # Renamed, the group is itself, but neither a turn nor a turn back.
        (Fold("shift", 4, 1), [[0, 2, 1, 3]]),
        # And one of three ranks is never itself by XOR.
        (Fold("xor", 4, 1), [[0, 1, 2]]),
    ],
)
def test_groups_that_renaming_tears_apart(fold: Fold, groups: list[list[int]]) -> None:
    """Neither all stay nor do they change places."""
    with pytest.raises(InputError, match=f"renaming by {fold.kind} in steps of {fold.step}"):
        orbits(fold, np.array(groups))


def test_a_group_that_goes_around_backwards() -> None:
    """Place 1 comes to place 0: the other way round, which is a turn all the same."""
    standing, inside = orbits(Fold("shift", 4, 1), np.array([[3, 2, 1, 0]]))
    assert (standing.tolist(), inside) == ([0], Fold("shift", 4, 1))
