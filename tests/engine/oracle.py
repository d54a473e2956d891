"""A second simulator, slow and plain: it shares no code with the engine it checks.

Times are exact fractions. Every step looks at all messages anew for the one whose turn
comes first; which messages wait for which follows from what they read and write alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Place = tuple[int, int]


@dataclass(frozen=True)
class Way:
    """A link or port that a message holds; `lanes` 0 means that it holds nobody up."""

    key: Hashable
    alpha: Fraction
    busy: Fraction
    beta: Fraction
    lanes: int


@dataclass(frozen=True)
class Message:
    """One operation: who, how much, what it reads and writes as (rank, place), and its way.

    `entered` is when both its ranks have entered, from the launch on.
    """

    src: int
    dst: int
    size: Fraction
    reduces: bool
    reads: frozenset[Place]
    writes: frozenset[Place]
    ways: tuple[Way, ...]
    entered: Fraction = Fraction(0)


def conflict(first: Message, second: Message) -> bool:
    """Return whether two messages must keep their order."""
    if first.writes & second.reads or first.reads & second.writes:
        return True
    both_reduce = first.reduces and second.reduces
    return bool(first.writes & second.writes) and not both_reduce


def timeline(
    messages: Sequence[Message], gamma: Fraction, launch: Fraction
) -> tuple[list[Fraction], list[Fraction]]:
    """Return start and finish of every message."""
    n = len(messages)
    waits = [[i for i in range(j) if conflict(messages[i], messages[j])] for j in range(n)]
    start: dict[int, Fraction] = {}
    arrival: dict[int, Fraction] = {}
    finish: dict[int, Fraction] = {}
    released: dict[Hashable, list[Fraction]] = {}
    reducer: dict[int, Fraction] = {}
    while len(finish) < n:
        turns = [(arrival[j], "arrives", j) for j in arrival if j not in finish]
        turns += [
            (
                max([launch + messages[j].entered, *(finish[i] for i in waits[j])]),
                "is admitted",
                j,
            )
            for j in range(n)
            if j not in start and all(i in finish for i in waits[j])
        ]
        # What arrives counts before what is admitted at the same time.
        now, what, j = min(turns)
        message = messages[j]
        if what == "is admitted":
            start[j] = now
            if not message.ways:
                finish[j] = now
                continue
            limited = [way for way in message.ways if way.lanes]
            for way in limited:
                lanes = released.setdefault(way.key, [Fraction(0)] * way.lanes)
                start[j] = max(start[j], min(lanes))
            busy = sum((way.busy for way in message.ways), Fraction(0))
            for way in limited:
                lanes = released[way.key]
                lanes.remove(min(lanes))
                lanes.append(start[j] + busy + message.size * way.beta)
            alpha = sum((way.alpha for way in message.ways), Fraction(0))
            arrived = start[j] + alpha + message.size * max(way.beta for way in message.ways)
            if message.reduces and gamma:
                arrival[j] = arrived
            else:
                finish[j] = arrived
        else:
            begin = max(now, reducer.get(message.dst, now))
            finish[j] = reducer[message.dst] = begin + message.size * gamma
    return [start[j] for j in range(n)], [finish[j] for j in range(n)]
