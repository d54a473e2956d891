"""Switches that add up and multicast: how the ranks of a node reach theirs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.errors import InputError

__all__ = ["InSwitch"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class InSwitch:
    """Links between every rank and the switch of its node, which takes part in collectives.

    The switch adds up what ranks send to it, and hands on what it holds to any of them.

    Parameters
    ----------
    up, down : int array, shape (P,)
        Link from each rank to its switch, and back.
    efficiency : float
        Part of a link's bandwidth that such messages reach, above 0 and at most 1.

    Raises
    ------
    InputError
        For an efficiency outside of that, or links of other numbers of ranks.

    Examples
    --------
    >>> four = InSwitch(np.arange(4), np.arange(4, 8), efficiency=0.85)
    >>> four.of(np.array([3, 1])).down.tolist()
    [7, 5]
    """

    up: IntArray
    down: IntArray
    efficiency: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.efficiency <= 1:
            raise InputError(
                f"multicast_efficiency: got {self.efficiency!r}, expected a part of the "
                "bandwidth, above 0 and at most 1"
            )
        if self.up.shape != self.down.shape:
            raise InputError(
                f"in_switch: {self.up.size} links up but {self.down.size} links down"
            )
        for ends in (self.up, self.down):
            ends.flags.writeable = False

    def of(self, ranks: IntArray) -> "InSwitch":
        """Return the links of some ranks, in their order."""
        return InSwitch(self.up[ranks], self.down[ranks], self.efficiency)
