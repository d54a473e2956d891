"""NCCL's time of one algorithm and protocol over all sizes. src/graph/tuning.cc, last function.

Between two of its steps it is latency + bytes / (1000 * bandwidth) in 32-bit floats. The steps
are the powers of two at which the tree's correction changes, and the size from which on a
ring's latency over nodes is taken to be larger.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.nccl._cost import Cell, single
from collsim.nccl.communicator import Communicator
from collsim.nccl.constants import TREE_CORRECTION
from collsim.nccl.names import PROTOCOLS
from collsim.nccl.versions import Release

__all__ = ["Curve", "curve"]

Float32 = NDArray[np.float32]
# Sizes in whole 64 bytes: the tree has 23 corrections, NVLSTree 24.
_TREE_STEPS: Final = 23
_NVLS_TREE_STEPS: Final = 24
# Bytes a channel and rank must have for the larger latency.
_PLATEAU: Final = 64


@dataclass(frozen=True)
class Curve:
    """Times of an algorithm and protocol.

    Parameters
    ----------
    algorithm, protocol : str
        Which.
    starts : tuple of int
        First size of each piece; the first is 0.
    latencies, rates : tuple of float
        Of each piece: microseconds, and bytes per microsecond, both 32-bit floats.
    factor : float
        What NCCL multiplies the time by, a power of two.
    """

    algorithm: str
    protocol: str
    starts: tuple[int, ...]
    latencies: tuple[float, ...]
    rates: tuple[float, ...]
    factor: float = 1.0

    def piece(self, nbytes: int) -> int:
        """Return the piece that a size lies in."""
        return bisect_right(self.starts, nbytes) - 1

    def at(self, nbytes: int) -> float:
        """Return the time of a size in microseconds."""
        piece = self.piece(nbytes)
        size = float(np.int64(nbytes).astype(np.float32))
        transfer = single(size / self.rates[piece])
        return single(self.latencies[piece] + transfer) * self.factor

    def over(self, sizes: NDArray[np.int64]) -> Float32:
        """Return the times of many sizes.

        Examples
        --------
        >>> line = Curve("ring", "ll", (0,), (7.0,), (1000.0,))
        >>> line.over(np.array([0, 3000])).tolist()
        [7.0, 10.0]
        """
        piece = np.searchsorted(np.array(self.starts), sizes, side="right") - 1
        latency = np.array(self.latencies, np.float32)[piece]
        rate = np.array(self.rates, np.float32)[piece]
        return (latency + sizes.astype(np.float32) / rate) * np.float32(self.factor)

    def scaled(self, factor: float) -> "Curve":
        """Return the same, so many times as slow."""
        return replace(self, factor=factor)


def curve(
    comm: Communicator, release: Release, key: tuple[str, str, str], entry: Cell
) -> Curve:
    """Return the times of an entry of the table."""
    collective, algorithm, protocol = key
    latency, bw = single(entry.latency_us), single(entry.bandwidth)

    def rate(correction: float) -> float:
        return single(1000 * single(bw * single(correction)))

    starts, latencies, rates = [0], [latency], [rate(1.0)]
    steps = _corrections(comm, release, collective, algorithm)
    if steps:
        table = TREE_CORRECTION[PROTOCOLS.index(protocol)]
        if release.rules.small_tree:
            rates[0] = rate(table[0])
        for step in range(steps):
            starts.append(64 << step)
            rates.append(rate(table[step]))
        starts.append(64 << steps)
        rates.append(rate(1.0))
        latencies *= len(starts)
    ring = algorithm == "ring" and protocol == "simple" and comm.nodes > 1
    if ring and collective == "all_reduce":
        starts.append(_PLATEAU * comm.channels * comm.ranks)
        latencies.append(single(latency * (1.9 if comm.capability < 80 else 1.4)))
        rates.append(rates[0])
    return Curve(algorithm, protocol, tuple(starts), tuple(latencies), tuple(rates))


def _corrections(comm: Communicator, release: Release, collective: str, algorithm: str) -> int:
    if collective != "all_reduce":
        return 0
    if algorithm == "tree":
        return _TREE_STEPS
    blackwell = comm.capability >= 100 and comm.cpu_arch == "x86_64"
    if algorithm == "nvls_tree" and blackwell and release.rules.nvls_tree_correction:
        return _NVLS_TREE_STEPS
    return 0
