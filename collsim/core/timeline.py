"""A timeline: when every operation of a schedule starts and ends."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.schedule import Schedule

__all__ = ["Breakdown", "Step", "Timeline"]


@dataclass(frozen=True)
class Breakdown:
    """Where the time of a critical path goes, in seconds; the parts sum to the time.

    Parameters
    ----------
    alpha, beta, gamma : float
        Start-ups, bytes sent, bytes reduced.
    launch : float
        What every collective pays once.
    waiting : float
        Time in which a message stood ready while messages of other ranks held its way, or
        until a late rank had entered.
    """

    alpha: float = 0.0
    beta: float = 0.0
    gamma: float = 0.0
    launch: float = 0.0
    waiting: float = 0.0


@dataclass(frozen=True)
class Step:
    """One operation on the critical path.

    Parameters
    ----------
    operation : int
        Index in the schedule.
    start, finish : float
        Seconds.
    why : str
        What it waited for: ``"start"``, ``"data"``, ``"rank"`` (an earlier message of the
        same sender or receiver), ``"link"`` (other ranks' messages), ``"reduction"``,
        ``"late rank"`` (its sender or receiver had not entered yet) or ``"job"`` (messages
        of another collective). Before it started, that is.
    waiting : float
        Seconds of it that count as waiting: before it started, or because it shared its
        links while it ran.
    """

    operation: int
    start: float
    finish: float
    why: str
    waiting: float = 0.0


@dataclass(frozen=True, eq=False)
class Timeline:
    """The outcome of a simulation.

    Parameters
    ----------
    schedule : Schedule
        What was simulated.
    nbytes : float
        Size of the buffer, n, in bytes.
    start, finish : float array, shape (N,)
        Seconds at which each operation starts, and at which what it brought is in place.
    makespan : float
        Seconds until the last operation ends, and the last rank has entered; the launch is
        included.
    breakdown : Breakdown
        Parts of the makespan along the critical path.
    critical_path : tuple of Step
        From the first operation to the last; empty where a rank enters after all others
        are done.
    """

    schedule: Schedule
    nbytes: float
    start: NDArray[np.float64]
    finish: NDArray[np.float64]
    makespan: float
    breakdown: Breakdown
    critical_path: tuple[Step, ...]

    def __repr__(self) -> str:
        what = f"{self.operations} operations in {self.rounds} rounds"
        return f"<Timeline of {what}: {self.makespan_us:.6g} us>"

    @property
    def rounds(self) -> int:
        """Rounds in which the author listed the operations."""
        return self.schedule.rounds

    @property
    def operations(self) -> int:
        """Number of operations."""
        return len(self.schedule)

    @property
    def makespan_us(self) -> float:
        """Makespan in microseconds."""
        return self.makespan * 1e6
