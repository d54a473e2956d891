"""A second simulator of fair sharing, slow and plain: exact fractions, all rates anew.

It shares no code with the engine. Messages are those of `oracle`; which of them wait for
which is told to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Key = Hashable


def rates(
    flows: Mapping[int, Sequence[Key]],
    caps: Mapping[int, Fraction],
    room: Mapping[Key, Fraction],
) -> dict[int, Fraction]:
    """Return max-min fair rates: all rise together until something stops some of them."""
    rate: dict[int, Fraction] = {}
    while len(rate) < len(flows):
        rising = [f for f in flows if f not in rate]
        levels = {}
        for key in {key for f in rising for key in flows[f]}:
            used = sum((rate[f] for f in rate if key in flows[f]), Fraction(0))
            levels[key] = (room[key] - used) / sum(key in flows[f] for f in rising)
        level = min([*levels.values(), *(caps[f] for f in rising)])
        for f in rising:
            if caps[f] == level or any(levels[key] == level for key in flows[f]):
                rate[f] = level
    return rate


def timeline(
    messages: Sequence[Any], waits: Sequence[Sequence[int]], gamma: Fraction, launch: Fraction
) -> tuple[list[Fraction], list[Fraction]]:
    """Return start and finish of every message."""
    n = len(messages)
    start: dict[int, Fraction] = {}
    finish: dict[int, Fraction] = {}
    begins: dict[int, Fraction] = {}
    left: dict[int, Fraction] = {}
    reducer: dict[int, Fraction] = {}
    whole = [m.ways for m in messages]
    ways = [[way for way in crossed if way.lanes and way.beta] for crossed in whole]
    room = {way.key: way.lanes / way.beta for held in ways for way in held}
    slowest = [max([way.beta for way in crossed], default=Fraction(0)) for crossed in whole]
    now = launch

    def arrives(j: int) -> None:
        finish[j] = now
        if messages[j].adds and gamma and whole[j]:
            at = max(now, reducer.get(messages[j].dst, now))
            finish[j] = reducer[messages[j].dst] = at + messages[j].size * gamma

    while len(finish) < n or any(time > now for time in finish.values()):
        flowing = {j: [way.key for way in ways[j]] for j in left}
        speed = rates(flowing, {j: 1 / slowest[j] for j in left}, room)
        for j in range(n):
            if (
                j not in start
                and launch + messages[j].entered <= now
                and all(i in finish and finish[i] <= now for i in waits[j])
            ):
                start[j] = now
                begins[j] = now + sum((way.alpha for way in whole[j]), Fraction(0))
        # One that takes no time at all arrives when its turn comes, after those under way.
        at_once = [j for j in begins if not messages[j].passing * slowest[j]]
        instant = min((j for j in at_once if begins[j] == now), default=None)
        if instant is not None:
            del begins[instant]
            arrives(instant)
            continue
        beginning = [j for j in begins if begins[j] == now]
        for j in beginning:
            del begins[j]
            left[j] = messages[j].passing
        if beginning:
            continue
        times = [*begins.values(), *(time for time in finish.values() if time > now)]
        times += [now + left[j] / speed[j] for j in left]
        entries = [launch + messages[j].entered for j in range(n) if j not in start]
        times += [time for time in entries if time > now]
        if not times:
            break
        then = min(times)
        for j in left:
            left[j] -= speed[j] * (then - now)
        now = then
        for j in sorted(j for j in left if left[j] == 0):
            del left[j]
            arrives(j)
    return [start[j] for j in range(n)], [finish[j] for j in range(n)]
