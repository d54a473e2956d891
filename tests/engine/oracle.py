"""A second simulator, slow and plain: it shares no code with the engine it checks.

Times are exact fractions. Every step looks at all messages anew for the one whose turn
comes first; which messages wait for which follows from what they read and write alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Place = tuple[int, Hashable]
# When, what ("arrives" or "is admitted"), and which message.
Turn = tuple[Fraction, str, int]


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

    Links take `passing` bytes for it, which are more than its `size` where a switch takes
    part at less than the bandwidth. Only what `adds` takes time at the receiver.
    `entered` is when both its ranks have entered, from the launch on. Messages with a
    `queue` go one after the other.
    """

    src: int
    dst: int
    size: Fraction
    passing: Fraction
    reduces: bool
    adds: bool
    reads: frozenset[Place]
    writes: frozenset[Place]
    ways: tuple[Way, ...]
    entered: Fraction = Fraction(0)
    queue: Hashable | None = None
    strict: bool = False


def conflict(first: Message, second: Message) -> bool:
    """Return whether two messages must keep their order."""
    if first.writes & second.reads or first.reads & second.writes:
        return True
    if first.writes & second.writes and not (first.reduces and second.reduces):
        return True
    if first.queue is None or first.queue != second.queue:
        return False
    both_strict = first.strict and second.strict
    return first.dst == second.dst or (both_strict and first.src == second.src)


def waits(messages: Sequence[Message]) -> list[list[int]]:
    """Return which earlier messages each one waits for."""
    return [
        [i for i in range(j) if conflict(messages[i], messages[j])]
        for j in range(len(messages))
    ]


def as_listed(turn: Turn) -> Any:
    """Return what turns are compared by: what arrives counts before what is admitted."""
    now, what, j = turn
    return now, what != "arrives", j


def timeline(
    messages: Sequence[Message],
    gamma: Fraction,
    launch: Fraction,
    rule: Callable[[Turn], Any] = as_listed,
) -> tuple[list[Fraction], list[Fraction]]:
    """Return start and finish of every message."""
    n = len(messages)
    before = waits(messages)
    start: dict[int, Fraction] = {}
    arrival: dict[int, Fraction] = {}
    finish: dict[int, Fraction] = {}
    released: dict[Hashable, list[Fraction]] = {}
    reducer: dict[int, Fraction] = {}
    while len(finish) < n:
        turns = [(arrival[j], "arrives", j) for j in arrival if j not in finish]
        turns += [
            (
                max([launch + messages[j].entered, *(finish[i] for i in before[j])]),
                "is admitted",
                j,
            )
            for j in range(n)
            if j not in start and all(i in finish for i in before[j])
        ]
        now, what, j = min(turns, key=rule)
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
                lanes.append(start[j] + busy + message.passing * way.beta)
            alpha = sum((way.alpha for way in message.ways), Fraction(0))
            bytes_take = message.passing * max(way.beta for way in message.ways)
            if message.adds and gamma:
                arrival[j] = start[j] + alpha + bytes_take
            else:
                finish[j] = start[j] + alpha + bytes_take
        else:
            begin = max(now, reducer.get(message.dst, now))
            finish[j] = reducer[message.dst] = begin + message.size * gamma
    return [start[j] for j in range(n)], [finish[j] for j in range(n)]
