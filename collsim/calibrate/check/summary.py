"""Where rows fall short, in words that hold for every row."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Protocol

from collsim.units import format_size

__all__ = ["Judged", "shortfall"]

_GOOD = "good"
_WORDS = {
    "latency": "latency is too long",
    "bandwidth": "bandwidth falls short",
    "both": "latency is too long and bandwidth falls short",
}
_NAMED = 3  # so many sizes are named one by one
_TOLD = 3  # so many ranges are told, and the others counted


class Judged(Protocol):
    """What is asked of a row."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def ratio(self) -> float:
        """Measured / predicted."""

    @property
    def verdict(self) -> str:
        """``ok latency bandwidth both faster``; see `collsim.calibrate.check.verdict`."""


@dataclass(frozen=True)
class _Size:
    """The rows of one size, and what most of them are."""

    size: int
    rows: tuple[Judged, ...]
    verdict: str

    @property
    def slow(self) -> list[Judged]:
        """Rows past the tolerance."""
        return [row for row in self.rows if row.verdict in _WORDS]


@dataclass(frozen=True)
class _Span:
    """Sizes that follow each other, from one index to another, with one verdict."""

    first: int
    last: int
    verdict: str


def shortfall(rows: Sequence[Judged], tolerance: float) -> str:
    """Say in words what falls short in rows of one collective, ranks and nodes.

    A span of sizes counts from its first to its last size; a single good size in it is
    named. A slow row whose neighbours are not is named on its own. So every slow row is
    counted once. The range that is late by most comes first, and of many three are told.

    Parameters
    ----------
    rows : sequence of CheckRow
        Ascending in size.
    tolerance : float
        What they were judged by.

    Examples
    --------
    >>> from types import SimpleNamespace as Row
    >>> words = ["ok", "ok", "bandwidth", "bandwidth"]
    >>> rows = [Row(size=4**k, ratio=3.0, verdict=v) for k, v in enumerate(words, 6)]
    >>> shortfall(rows, 0.2)
    'bandwidth falls short from 64KiB on, 3 times the predicted time (2 of 4 rows)'
    """
    sizes = [_of_size(tuple(found)) for _, found in groupby(rows, lambda row: row.size)]
    spans = _joined(sizes)
    strays = [row for one in sizes if one.verdict == _GOOD for row in one.slow]
    ranges: list[tuple[str, list[Judged]]] = []
    for i, span in enumerate(spans):
        if span.verdict != _GOOD and _alone(i, spans):
            strays += sizes[span.first].slow
        elif span.verdict != _GOOD:
            ranges.append(_clause(span, sizes, len(rows)))
    ranges += _stray(sorted(strays, key=lambda row: row.size))
    ranges.sort(key=lambda one: -sum(math.log(row.ratio) for row in one[1]))
    parts = [words for words, _ in ranges[:_TOLD]] + _more(ranges[_TOLD:], len(rows))
    faster = sum(row.verdict == "faster" for row in rows)
    if faster:
        share = f"{faster} of {len(rows)} rows"
        parts.append(f"faster than predicted by more than {tolerance:.0%} in {share}")
    if not parts:
        parts.append(f"all {len(rows)} rows within {tolerance:.0%} of the prediction")
    return "; ".join(parts)


def _of_size(rows: tuple[Judged, ...]) -> _Size:
    slow = [row.verdict for row in rows if row.verdict in _WORDS]
    most = Counter(slow).most_common(1)[0][0] if 2 * len(slow) > len(rows) else _GOOD
    return _Size(rows[0].size, rows, most)


def _joined(sizes: Sequence[_Size]) -> list[_Span]:
    """Return the spans of one verdict; one good size, or one of both, parts none."""
    spans: list[_Span] = []
    for i, one in enumerate(sizes):
        if spans and spans[-1].verdict == one.verdict:
            spans[-1] = _Span(spans[-1].first, i, one.verdict)
        else:
            spans.append(_Span(i, i, one.verdict))
    i = 1
    while i < len(spans) - 1:
        before, here, after = spans[i - 1 : i + 2]
        outer = before.last - before.first + after.last - after.first + 2
        same = before.verdict == after.verdict != _GOOD
        same = same and here.verdict in (_GOOD, "both")
        if same and here.first == here.last and outer > 2:
            spans[i - 1 : i + 2] = [_Span(before.first, after.last, before.verdict)]
        else:
            i += 1
    return spans


def _alone(i: int, spans: Sequence[_Span]) -> bool:
    """Return whether a span is one size, and those beside it, if any, are good."""
    beside = [*spans[max(0, i - 1) : i], *spans[i + 1 : i + 2]]
    one = spans[i].first == spans[i].last
    return one and bool(beside) and all(span.verdict == _GOOD for span in beside)


def _more(ranges: Sequence[tuple[str, list[Judged]]], total: int) -> list[str]:
    """Return how many further ranges there are, and their rows."""
    if not ranges:
        return []
    count = sum(len(slow) for _, slow in ranges)
    word = "range" if len(ranges) == 1 else "ranges"
    return [f"and {len(ranges)} more {word} ({count} of {total} rows)"]


def _clause(span: _Span, sizes: Sequence[_Size], total: int) -> tuple[str, list[Judged]]:
    """Return what falls short in a span, and the rows that do."""
    inside = sizes[span.first : span.last + 1]
    # What falls short of both falls short of each.
    true = [one for one in inside if one.verdict in (span.verdict, "both")]
    slow = [row for one in true for row in one.slow]
    factor = median(row.ratio for row in slow)
    others = [format_size(one.size) for one in inside if one not in true]
    but = f", but for {', '.join(others)}" if others else ""
    words = (
        f"{_WORDS[span.verdict]} {_where(span, sizes)}{but}, {factor:.3g} times the predicted "
        f"time ({len(slow)} of {total} rows)"
    )
    return words, slow


def _where(span: _Span, sizes: Sequence[_Size]) -> str:
    first, last = (format_size(sizes[i].size) for i in (span.first, span.last))
    if span.first == 0 and span.last == len(sizes) - 1:
        return "at all sizes" if len(sizes) > 1 else f"at {first}"
    if span.first == 0:
        return f"up to {last}"
    if span.last == len(sizes) - 1:
        return f"from {first} on"
    return f"at {first}" if span.first == span.last else f"between {first} and {last}"


def _stray(rows: list[Judged]) -> list[tuple[str, list[Judged]]]:
    """Return what single rows do that their neighbours do not, and those rows."""
    if not rows:
        return []
    sizes = list(dict.fromkeys(format_size(row.size) for row in rows))
    most = max(row.ratio for row in rows)
    if len(rows) == 1:
        what = f"one row, {sizes[0]}, takes {most:.3g} times the predicted time"
        return [(f"{what}, those beside it do not", rows)]
    named = ", ".join(sizes) if len(sizes) <= _NAMED else f"from {sizes[0]} to {sizes[-1]}"
    what = f"{len(rows)} single rows, {named}, take up to {most:.3g} times the predicted time"
    return [(f"{what}, those beside them do not", rows)]
