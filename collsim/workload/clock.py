"""Run a list of tasks: when each starts and ends, and what held up what.

A task starts when the one before it in its stream and all that it waits for are done.
Collectives of different kinds that run at once on the same stage and load a link or port with
more than it carries slow one another down: each goes at 1 / (sum of loads) of the fullest of
its links, where the load is the part of its time for which a collective by itself fills a link.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.workload.parts import Call
from collsim.workload.steps import COMPUTE, Task

__all__ = ["Cost", "Event", "idle", "run"]

FloatArray = NDArray[np.float64]

# Loads that sum to no more than this are rounding above 1.
_FULL: Final = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Cost:
    """What a collective takes by itself.

    Parameters
    ----------
    seconds : float
        Its time, together with its likes in all groups of its kind.
    load : float array
        For each link and port the part of that time for which it is filled.
    """

    seconds: float
    load: FloatArray


@dataclass(frozen=True)
class Event:
    """A task as it ran.

    Parameters
    ----------
    task : Task
        What.
    start, end : float
        Seconds from the start of the step.
    cause : int
        Number of the task at whose end it could start; -1 for the start of the step.
    """

    task: Task
    start: float
    end: float
    cause: int

    @property
    def seconds(self) -> float:
        """How long it ran."""
        return self.end - self.start


def run(tasks: Sequence[Task], costs: Mapping[Call, Cost]) -> list[Event]:
    """Return when every task runs.

    Parameters
    ----------
    tasks : sequence of Task
        Each waits for earlier ones only.
    costs : mapping
        Of every call.

    Examples
    --------
    >>> layer = Task(0, "compute", "layer", None, 2.0, ())
    >>> call = Call("data", "all_reduce", 8.0, "gradients")
    >>> send = Task(0, "data", "gradients", call, 0.0, (0,))
    >>> [event.end for event in run([layer, layer, send], {call: Cost(3.0, np.zeros(1))})]
    [2.0, 4.0, 5.0]
    """
    return _Clock(tasks, costs).run()


class _Clock:
    def __init__(self, tasks: Sequence[Task], costs: Mapping[Call, Cost]) -> None:
        self.tasks, self.costs = tasks, costs
        self.before: list[set[int]] = []
        self.next: list[list[int]] = [[] for _ in tasks]
        tails: dict[tuple[int, str], int] = {}
        for number, task in enumerate(tasks):
            waits = set(task.after)
            key = task.stage, task.stream
            if key in tails:
                waits.add(tails[key])
            tails[key] = number
            self.before.append(waits)
            for other in waits:
                self.next[other].append(number)
        self.start = [0.0] * len(tasks)
        self.end = [0.0] * len(tasks)
        self.cause = [-1] * len(tasks)
        # Of what runs: seconds that are left at a time, and the rate since then.
        self.left: dict[int, tuple[float, float, float]] = {}
        self.running: dict[int, list[int]] = {}
        self.version = [0] * len(tasks)
        self.heap: list[tuple[float, int, int]] = []

    def run(self) -> list[Event]:
        waits = [len(before) for before in self.before]
        for number, count in enumerate(waits):
            if count == 0:
                self._begin(number, 0.0, -1)
        while self.heap:
            now, number, version = heapq.heappop(self.heap)
            if version != self.version[number]:
                continue
            self._finish(number, now)
            for other in self.next[number]:
                waits[other] -= 1
                if waits[other] == 0:
                    self._begin(other, now, number)
        rows = zip(self.tasks, self.start, self.end, self.cause, strict=True)
        return [Event(*row) for row in rows]

    def _begin(self, number: int, now: float, cause: int) -> None:
        task = self.tasks[number]
        self.start[number], self.cause[number] = now, cause
        if task.call is None or self.costs[task.call].seconds == 0:
            seconds = task.seconds if task.call is None else 0.0
            heapq.heappush(self.heap, (now + seconds, number, 0))
            return
        seconds = self.costs[task.call].seconds
        self.left[number] = seconds, now, 1.0
        heapq.heappush(self.heap, (now + seconds, number, 0))
        self.running.setdefault(task.stage, []).append(number)
        self._share(task.stage, now)

    def _finish(self, number: int, now: float) -> None:
        self.end[number] = now
        if number in self.left:
            del self.left[number]
            stage = self.tasks[number].stage
            self.running[stage].remove(number)
            self._share(stage, now)

    def _share(self, stage: int, now: float) -> None:
        """Set the rates of what runs on a stage anew."""
        here = self.running[stage]
        calls = [self.tasks[number].call for number in here]
        loads = [self.costs[call].load for call in calls if call is not None]
        total = loads[0] if len(loads) == 1 else np.sum(loads, axis=0) if loads else None
        for number, load in zip(here, loads, strict=True):
            rate = 1.0
            if len(loads) > 1 and total is not None:
                fullest = float(total[load > 0].max(initial=0.0))
                rate = 1 / fullest if fullest > _FULL else 1.0
            seconds, since, old = self.left[number]
            if rate == old:
                continue
            seconds = max(0.0, seconds - (now - since) * old)
            self.left[number] = seconds, now, rate
            self.version[number] += 1
            heapq.heappush(self.heap, (now + seconds / rate, number, self.version[number]))


def idle(events: Sequence[Event], stage: int) -> tuple[dict[Call, float], float]:
    """Return why a stage does not compute: seconds of its own calls, and of other stages.

    Each gap between two tasks of computing is walked back from its end, along what had to be
    done before; the parts of the gap go to the calls that are met.

    Examples
    --------
    >>> layer = Task(0, "compute", "layer", None, 2.0, ())
    >>> call = Call("data", "all_reduce", 8.0, "gradients")
    >>> send = Task(0, "data", "gradients", call, 0.0, (0,))
    >>> end = Task(0, "compute", "optimizer", None, 0.0, (2,))
    >>> ran = run([layer, layer, send, end], {call: Cost(3.0, np.zeros(1))})
    >>> list(idle(ran, 0)[0].values())
    [1.0]
    """
    exposed: dict[Call, float] = {}
    elsewhere, last = 0.0, 0.0
    for event in events:
        if event.task.stage != stage or event.task.stream != COMPUTE:
            continue
        now, cause = event.start, event.cause
        while now > last:
            other = events[cause]
            since = max(last, other.start)
            own = other.task.call if other.task.stage == stage else None
            if own is None:
                elsewhere += now - since
            else:
                exposed[own] = exposed.get(own, 0.0) + now - since
            now, cause = since, other.cause
        last = event.end
    return exposed, elsewhere
