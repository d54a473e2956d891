"""Where the ranks of a collective sit: how many there are, and on which node each is."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.collective import check_ranks
from collsim.errors import InputError

__all__ = ["Setting"]

# NCCL's MAXCHANNELS (2.30, src/include/device.h).
_MOST_CHANNELS: Final = 64


@dataclass(frozen=True, eq=False)
class Setting:
    """Ranks, the node of every one of them, and whether the nodes' switches take part.

    All that an algorithm may know of the machine: who is near whom.

    Parameters
    ----------
    ranks : int
        Rank count P.
    node : int array, shape (P,), optional
        Node of every rank; None means that all are on one.
    multicast : bool
        Whether the switch of every node can add up and multicast.
    rings : int array, shape (rings, ranks of a node), optional
        In which orders rings best pass through every node, for a ring in each of several
        channels; see :attr:`collsim.core.cluster.Cluster.rings`. None where a node has none
        of its own.

    Raises
    ------
    InputError
        If `node` has another length, or no whole numbers; if nodes have different numbers of
        ranks, and rings, or a ring does not name each rank of a node once.

    Examples
    --------
    >>> setting = Setting(5, [0, 1, 0, 1, 0])
    >>> setting.nodes, [ranks.tolist() for ranks in setting.members]
    (2, [[0, 2, 4], [1, 3]])
    >>> setting.even, setting.fewest
    (False, 2)
    """

    ranks: int
    node: ArrayLike | None = None
    multicast: bool = False
    rings: ArrayLike | None = None

    def __post_init__(self) -> None:
        check_ranks(self.ranks)
        self._check_node()

        if self.rings is not None:
            self._check_rings()

    @property
    def orders(self) -> NDArray[np.int64] | None:
        """The rings of a node, shape (rings, ranks of a node), or None.

        Examples
        --------
        >>> Setting(3, rings=[[0, 1, 2], [0, 2, 1]]).orders.shape
        (2, 3)
        """
        return None if self.rings is None else np.asarray(self.rings, dtype=np.int64)

    def _check_rings(self) -> None:
        if not self.even:
            raise InputError("rings: nodes differ in their numbers of ranks, expected equal")
        orders = np.asarray(self.rings)
        if orders.dtype.kind not in "iu" or orders.ndim != 2 or not orders.size:
            raise InputError(f"rings: got {self.rings!r}, expected rows of whole numbers")
        if orders.shape[1] != self.fewest or (np.sort(orders) != np.arange(self.fewest)).any():
            raise InputError(
                f"rings: got {self.rings!r}, expected each of 0 to {self.fewest - 1} once in "
                "every row"
            )

    def _check_node(self) -> None:
        if self.node is None:
            return
        node = np.asarray(self.node)
        if node.shape != (self.ranks,):
            raise InputError(f"node: has {node.size} entries, expected {self.ranks}")
        if node.dtype.kind not in "iu":
            raise InputError(f"node: got {self.node!r}, expected whole numbers")

    @cached_property
    def members(self) -> tuple[NDArray[np.int64], ...]:
        """Ranks of every node, both in rising order."""
        if self.node is None:
            return (np.arange(self.ranks),)
        node = np.asarray(self.node)
        by_node = np.argsort(node, kind="stable")
        ends = np.flatnonzero(np.diff(node[by_node])) + 1
        sizes = np.diff(ends, prepend=0, append=node.size)
        if (sizes == sizes[0]).all():
            return tuple(by_node.reshape(-1, sizes[0]))
        return tuple(np.split(by_node, ends))

    @property
    def nodes(self) -> int:
        """Number of nodes that have a rank."""
        return len(self.members)

    @property
    def agents(self) -> NDArray[np.int64]:
        """Numbers of the switches that can take part, one per node or none.

        Examples
        --------
        >>> Setting(4, [0, 0, 1, 1], multicast=True).agents.tolist()
        [4, 5]
        """
        return self.ranks + np.arange(self.nodes * self.multicast)

    @property
    def fewest(self) -> int:
        """Ranks of the node that has the fewest."""
        return min(len(ranks) for ranks in self.members)

    def check_channels(self, channels: int) -> int:
        """Return a number of channels: 64, as NCCL has, or one per GPU of a node, at most.

        Raises
        ------
        InputError
            If it is more.

        Examples
        --------
        >>> Setting(8).check_channels(64)
        64
        """
        most = max(_MOST_CHANNELS, *(len(ranks) for ranks in self.members))
        if channels > most:
            raise InputError(f"channels: got {channels}, expected at most {most}")
        return channels

    @property
    def even(self) -> bool:
        """Whether all nodes have equally many ranks."""
        return self.fewest * self.nodes == self.ranks
