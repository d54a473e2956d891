"""A time below which one schedule cannot be on one cluster: lines, found without a run.

Two arguments, each true by itself at every size. *Path*: a message starts when what it
waits for is there and takes its route's alpha and bytes, even if nothing is in its way.
*Load*: what a link or port passes it passes one message after another, on each lane. Both
hold whatever the order of events is, and however links are shared.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.engine.plan import Plan
from collsim.engine.simulation import Simulation, large, loop_of

__all__ = ["Least", "least"]

FloatArray = NDArray[np.float64]

# A size at which start-ups no longer count: times divided by it are slopes.
_LARGE: Final = 2.0**60


@dataclass(frozen=True, eq=False)
class Least:
    """Lower bounds ``launch + at + n * slope``, the greatest of which counts.

    Parameters
    ----------
    launch : float
        Seconds that every collective pays once.
    at : float array, shape (K,)
        Seconds at size 0: of the longest path, of nothing, and of every link and port.
    slope : float array, shape (K,)
        Seconds per byte of the buffer: of nothing, the longest path, every link and port.
    """

    launch: float
    at: FloatArray
    slope: FloatArray

    def seconds(self, nbytes: float) -> float:
        """Return the bound in seconds, for a buffer of n bytes.

        Examples
        --------
        >>> Least(1.0, np.array([3.0, 0.0]), np.array([0.0, 0.5])).seconds(10)
        6.0
        """
        return self.launch + float((self.at + nbytes * self.slope).max())

    def lines(self) -> list[tuple[float, float]]:
        """Return the lines that are greatest at some size, as (seconds at 0, slope)."""
        found: list[tuple[float, float]] = []
        for i in np.lexsort((self.slope, self.at))[::-1]:
            if not found or self.slope[i] > found[-1][1]:
                found.append((float(self.at[i]), float(self.slope[i])))
        return [(self.launch + at, slope) for at, slope in found]

    def for_any_chunks(self) -> "Least":
        """Return what of the bound for one chunk holds for any number of them.

        More chunks shorten the path that the last byte takes, but a link passes as many
        bytes, and no fewer messages: all but the bytes of the longest path stay.

        Examples
        --------
        >>> Least(0.0, np.array([3.0, 0.0]), np.array([0.0, 0.5])).for_any_chunks().seconds(10)
        3.0
        """
        return replace(self, at=np.delete(self.at, 1), slope=np.delete(self.slope, 1))

    def stretched(self, twice: "Least", four: "Least", chunks: int) -> "Least | None":
        """Return the bound for more chunks, if this one and two more tell how it grows.

        In a pipeline every chunk goes the same way: a link passes as many bytes, and so
        many messages more with each chunk. Where 1, 2 and 4 chunks show that, it is
        carried on; otherwise the answer is None.

        Parameters
        ----------
        twice, four : Least
            The bounds for 2 and 4 chunks; this one is for 1.
        chunks : int
            So many are asked for.
        """
        if not self.at.size == twice.at.size == four.at.size:
            return None
        step = twice.at - self.at
        bytes_of = np.stack([b.slope[2:] for b in (self, twice, four)])
        if not (
            np.allclose(four.at, self.at + 3 * step, rtol=1e-9, atol=0.0)
            and np.allclose(bytes_of, bytes_of[0], rtol=1e-9, atol=0.0)
        ):
            return None
        slope = self.slope.copy()
        slope[1] = 0.0  # the path gets shorter with every chunk, to a limit not known
        return Least(self.launch, self.at + (chunks - 1) * step, slope)


def least(simulation: Simulation) -> Least:
    """Return the lower bound of a prepared simulation.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.core.cluster import Cluster
    >>> cluster = Cluster.ideal(4, alpha=1.0, bandwidth=1.0)
    >>> bound = least(Simulation(build("broadcast", "mst", 4), cluster))
    >>> bound.seconds(0), bound.seconds(100)
    (2.0, 202.0)
    """
    plan = simulation.plan
    count = np.bincount(plan.route, minlength=plan.alpha.size).astype(np.float64)
    carried = np.bincount(plan.route, weights=plan.size, minlength=plan.alpha.size)
    owner = np.repeat(np.arange(plan.alpha.size), np.diff(plan.held_ptr))
    lanes = np.diff(plan.lane_ptr)
    busy = np.zeros(plan.alpha.size) if simulation.fair else plan.busy
    load = np.bincount(plan.held, weights=(count * busy)[owner], minlength=lanes.size)
    passed = (carried * plan.piece)[owner] * plan.held_beta
    per_byte = np.bincount(plan.held, weights=passed, minlength=lanes.size)
    compiled = simulation.compiled or large(plan.route.size, False)
    path, steep = (_path(plan, n, compiled) for n in (0.0, _LARGE))
    steep /= _LARGE
    return Least(
        plan.launch,
        np.concatenate([[path, 0.0], load / lanes]),
        np.concatenate([[0.0, _below(steep)], per_byte / lanes]),
    )


def _below(steep: float) -> float:
    """Return a slope without what start-ups add to it at the size where it was taken."""
    return max(0.0, steep * (1 - 1e-9))


def _path(plan: Plan, nbytes: float, compiled: bool) -> float:
    """Return the finish of the last message, were nothing ever in the way of any."""
    if not plan.route.size:
        return 0.0
    free = replace(
        plan,
        held_ptr=np.zeros_like(plan.held_ptr),
        held=plan.held[:0],
        held_beta=plan.held_beta[:0],
        lane_ptr=np.zeros(1, dtype=np.int64),
        adding=np.zeros_like(plan.adding),
        gamma=0.0,
    )
    finish = loop_of(free, False, compiled).run(nbytes)[1]
    return float(max(finish))
