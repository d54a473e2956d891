"""One entry of NCCL's table, and what is looked up for it.

NCCL keeps 32-bit floats and computes partly in 64 bits. `single` rounds where NCCL assigns to a
float; one operation on such numbers in 64 bits, then rounded, is the same as in 32. Compilers
for Arm may fuse a product and a sum, which moves last bits; that is not followed.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from collsim.nccl.communicator import Communicator, Graph
from collsim.nccl.constants import Constants, Rows
from collsim.nccl.names import ALGORITHMS, PROTOCOLS
from collsim.nccl.versions import Release

__all__ = ["Case", "Cell", "single"]

_GATHERS: Final = ("all_gather", "reduce_scatter")
_TREE: Final = ALGORITHMS.index("tree")


def single(value: float) -> float:
    """Round to a 32-bit float.

    Examples
    --------
    >>> single(0.1)
    0.10000000149011612
    """
    return float(np.float32(value))


@dataclass(frozen=True)
class Cell:
    """An entry of NCCL's table.

    Parameters
    ----------
    latency_us : float
        Microseconds, a 32-bit float.
    bandwidth : float
        GB/s of 1e9 bytes, a 32-bit float; 0 where it is not available.
    """

    latency_us: float = 0.0
    bandwidth: float = 0.0


@dataclass(frozen=True)
class Case:
    """One cell to be filled, and what is looked up for it."""

    comm: Communicator
    release: Release
    collective: str
    algorithm: str
    protocol: str

    @property
    def graph(self) -> Graph:
        return self.comm.graph(self.algorithm)

    @property
    def gathers(self) -> bool:
        return self.collective in _GATHERS

    @property
    def constants(self) -> Constants:
        return self.release.constants

    @property
    def ppn(self) -> float:
        return single(self.comm.ranks / self.comm.nodes)

    @property
    def steps(self) -> int:
        ranks = self.comm.ranks
        if self.collective == "all_reduce":
            return 2 * (ranks - 1)
        return ranks - 1 if self.gathers else ranks

    @property
    def scale(self) -> int:
        return min(self.comm.nodes, 3) - 1

    @property
    def gpu(self) -> int:
        least = self.release.rules.capabilities
        return max(i for i, start in enumerate(least) if self.comm.capability >= start)

    def most(self, rows: Rows) -> float:
        """Return the most of a channel on this GPU and so many nodes."""
        return rows[self.gpu][self.scale]

    def step(self, rows: Rows, algorithm: str | None = None) -> float:
        """Return the latency of a step of an algorithm, of this one by default."""
        index = ALGORITHMS.index(algorithm or self.algorithm)
        return single(rows[index][PROTOCOLS.index(self.protocol)])

    @property
    def inside(self) -> Rows:
        if self.graph.type_intra == "NVL":
            return self.constants.nvlink
        rows = self.constants.pci
        if self.comm.cpu_arch == "ppc64":
            ring = rows[ALGORITHMS.index("ring")]
            return ((*rows[_TREE][:2], ring[2]), *rows[1:])
        return rows
