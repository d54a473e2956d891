"""How much every link and port carries at every time, all together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.together import Together
from collsim.engine.traffic import traffic

__all__ = ["Usage", "usage"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Usage:
    """Use of every link, then of every egress port, then of every ingress port.

    Parameters
    ----------
    names : tuple of str
        Of the links; ports are ``"egress[r]"`` and ``"ingress[r]"``.
    capacity : float array, shape (K,)
        Bytes per second over all lanes; infinite where there is no limit.
    ptr : int array, shape (K + 1,)
        Rows of link or port k: ``ptr[k]`` up to ``ptr[k + 1]``.
    begin, end, rate : float array
        Of every row: from when to when, in seconds, how many bytes per second. Times at
        which nothing flows are left out.
    """

    names: tuple[str, ...]
    capacity: FloatArray
    ptr: IntArray
    begin: FloatArray
    end: FloatArray
    rate: FloatArray

    def of(self, name: str) -> list[tuple[float, float, float]]:
        """Return from when to when a link or port carries how many bytes per second."""
        k = self.names.index(name)
        rows = slice(int(self.ptr[k]), int(self.ptr[k + 1]))
        columns = (self.begin[rows], self.end[rows], self.rate[rows])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _sums(self, values: FloatArray) -> FloatArray:
        sums = np.zeros(len(self.names))
        np.add.at(sums, np.repeat(np.arange(sums.size), np.diff(self.ptr)), values)
        return sums

    @property
    def nbytes(self) -> FloatArray:
        """Bytes that each carries in all."""
        return self._sums((self.end - self.begin) * self.rate)

    @property
    def busy(self) -> FloatArray:
        """Seconds in which each carries something."""
        return self._sums(self.end - self.begin)

    @property
    def peak(self) -> FloatArray:
        """Most bytes per second that each carries at any time."""
        peak = np.zeros(len(self.names))
        np.maximum.at(peak, np.repeat(np.arange(peak.size), np.diff(self.ptr)), self.rate)
        return peak


def usage(outcome: Timeline | Together, cluster: Cluster) -> Usage:
    """Return the use of every link and port of the cluster that a simulation was made on.

    Parameters
    ----------
    outcome : Timeline or Together
        What :func:`collsim.engine.simulate.simulate` returned.
    cluster : Cluster
        The same cluster.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> cluster = Cluster.ideal(2, alpha=1.0, bandwidth=2.0)
    >>> timeline = simulate(build("broadcast", "mst", 2), cluster, 4)
    >>> usage(timeline, cluster).of("egress[0]")
    [(1.0, 3.0, 2.0)]
    """
    found = list(traffic(outcome, cluster))
    ptr = np.cumsum([0, *(one.begin.size for one in found)], dtype=np.int64)
    return Usage(
        tuple(one.name for one in found),
        np.array([one.capacity for one in found]),
        ptr,
        *(
            np.concatenate([getattr(one, column) for one in found])
            for column in ("begin", "end", "rate")
        ),
    )
