"""Every message of a simulation, as columns of numbers, and what is told of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.schedule import REDUCE, Schedule
from collsim.core.timeline import Timeline
from collsim.engine.together import Together
from collsim.engine.ways import messages, ways
from collsim.interop.chrome_trace._event import Ticks, ticks

__all__ = ["Call", "Sent"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_MOST_RANGES = 8


@dataclass(frozen=True, eq=False)
class Call:
    """One collective that was called: its timeline, and when.

    Parameters
    ----------
    timeline : Timeline
        Seconds from `start` on.
    start : float
        Seconds.
    first : int
        Number of its first message among all.
    """

    timeline: Timeline
    start: float
    first: int


def _calls(outcome: Timeline | Together) -> list[Call]:
    """Return what was called, in the order in which messages are numbered."""
    if isinstance(outcome, Timeline):
        return [Call(outcome, 0.0, 0)]
    found, first = [], 0
    for job, timeline in zip(outcome.jobs, outcome.timelines, strict=True):
        found.append(Call(timeline, job.start, first))
        first += len(job.schedule)
    return found


class Sent:
    """All messages of all calls.

    A message's bytes begin to arrive alpha after it starts. At its sender it takes until the
    last of them are there; at its receiver from the first byte until they are reduced.

    Parameters
    ----------
    outcome : Timeline or Together
        What was simulated.
    cluster : Cluster
        Where.
    """

    def __init__(self, outcome: Timeline | Together, cluster: Cluster) -> None:
        self.calls = _calls(outcome)
        self._first = [call.first for call in self.calls]
        self._cluster = cluster
        sent = messages(outcome, cluster)
        self.src, self.dst, self.size, self._start = sent.src, sent.dst, sent.size, sent.start
        way = ways(sent, cluster)
        self._pair, self._alpha = way.pair, way.alpha
        # Of each pair, its slowest link.
        slowest = np.zeros(way.alpha.size)
        owner = np.repeat(np.arange(way.alpha.size), np.diff(way.ptr))
        np.maximum.at(slowest, owner, way.beta[way.crossed])
        self._beta = slowest * way.slow
        self._finish = (
            outcome.finish
            if isinstance(outcome, Timeline)
            else np.concatenate([c.start + c.timeline.finish for c in self.calls])
        )
        kinds = [call.timeline.schedule.kind for call in self.calls]
        self._kind = kinds[0] if len(kinds) == 1 else np.concatenate(kinds)
        self.critical = np.zeros(self.src.size, dtype=np.bool_)
        for call in self.calls:
            steps = [call.first + step.operation for step in call.timeline.critical_path]
            self.critical[steps] = True

    def ends(self, rows: IntArray) -> tuple[Ticks, Ticks, Ticks, Ticks]:
        """Return when some messages start, arrive first and last, and are in place."""
        start, alpha, beta, gamma, finish = self._costs(rows)
        arrival = finish - gamma if self._fair else np.minimum(start + alpha + beta, finish)
        first = np.minimum(start + alpha, arrival)
        return ticks(start), ticks(first), ticks(arrival), ticks(finish)

    @property
    def _fair(self) -> bool:
        return self._cluster.sharing == "fair"

    def _costs(
        self, rows: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        pair = self._pair[rows]
        size = self.size[rows]
        return (
            self._start[rows],
            self._alpha[pair],
            self._beta[pair] * size,
            self._gamma(rows) * size,
            self._finish[rows],
        )

    def _gamma(self, rows: IntArray) -> FloatArray:
        """Return seconds per byte that the receiver reduces; a switch takes no time."""
        cluster = self._cluster
        if not cluster.gamma:
            return np.zeros(rows.size)
        reduces = (self._kind[rows] == REDUCE) & (self.dst[rows] < cluster.ranks)
        if cluster.local is None:
            reduces &= self.src[rows] != self.dst[rows]
        return np.where(reduces, cluster.gamma, 0.0)

    def told(self, rows: IntArray) -> Iterator[tuple[str, str, str]]:
        """Yield kind, categories and arguments of some messages, as JSON members."""
        start, alpha, beta, gamma, finish = self._costs(rows)
        waiting = finish - start - alpha - beta - gamma
        several = len(self.calls) > 1
        job = np.searchsorted(self._first, rows, side="right") - 1
        columns = (rows, job, self.src[rows], self.dst[rows], self.size[rows], alpha, beta,
                   gamma, waiting, self.critical[rows])  # fmt: skip
        for n, j, src, dst, size, a, b, g, w, critical in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            call = self.calls[j]
            schedule, o = call.timeline.schedule, n - call.first
            kind = "reduce" if schedule.kind[o] == REDUCE else "copy"
            yield (
                kind,
                f"{kind},critical" if critical else kind,
                (f'"job":{j},' if several else "")
                + f'"operation":{o},"round":{schedule.round[o] + 1},"from":{src},"to":{dst},'
                f'"bytes":{size:.12g},{_chunks(schedule, o)}"alpha_us":{a * 1e6:.6g},'
                f'"beta_us":{b * 1e6:.6g}'
                + (f',"gamma_us":{g * 1e6:.6g}' if g else "")
                # Less is rounding.
                + (f',"waiting_us":{w * 1e6:.6g}' if w > 1e-9 else "")
                + (',"critical":true' if critical else ""),
            )


def _chunks(schedule: Schedule, o: int) -> str:
    """Return which places of memory an operation reads, and where it puts them."""
    read, put = _places(schedule.carried(o)), _places(schedule.written(o))
    into = f'"into":"{put}",' if put != read else ""
    channel = int(schedule.channel[o])
    return f'"chunks":"{read}",{into}' + (f'"channel":{channel},' if channel else "")


def _places(numbers: NDArray[np.int32]) -> str:
    """Spell numbers of places: neighbours as ranges; of very many ranges the first.

    Examples
    --------
    >>> _places(np.array([0, 1, 2, 5])), _places(np.arange(0, 40, 2))
    ('0-2,5', '0,2,4,6,8,10,12,14 and 12 more')
    """
    if numbers.size == 1:
        return str(int(numbers[0]))
    if not numbers.size:
        return ""
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    edges = [0, *cuts[:_MOST_RANGES].tolist(), numbers.size]
    whole = len(cuts) < _MOST_RANGES
    spans = list(pairwise(edges))
    shown = spans if whole else spans[:-1]
    text = ",".join(
        str(numbers[i]) if j == i + 1 else f"{numbers[i]}-{numbers[j - 1]}" for i, j in shown
    )
    return text if whole else f"{text} and {numbers.size - shown[-1][1]} more"
