"""Which rows of a file of live measurements can be fitted and drawn."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from collsim.calibrate.truth import doubt
from collsim.core.measurements import Source
from collsim.core.measurements_format import MeasuredRow, row_of
from collsim.core.measurements_setup import setup_of

__all__ = ["usable"]

_DAY: Final = 86400.0  # seconds; no call takes longer, and the longest time-out is 12 of them


def usable(rows: Iterable[MeasuredRow]) -> tuple[list[MeasuredRow], list[str]]:
    """Return the rows that can be true and are of one machine, and notes on the others.

    Left out is what came out wrong, took no time or more than a day, moved more bytes than any
    memory does, and what was measured with another library or device, or on other cores, than
    the last row.

    Parameters
    ----------
    rows : iterable of mapping
        As :func:`collsim.core.measurements_file.read_rows` returns them.

    Examples
    --------
    >>> row = {"pattern": "ping_pong", "collective": "sendrecv", "ranks": 2, "size": 8,
    ...        "seconds": 1e-5, "library": "Gloo"}
    >>> kept, notes = usable([row, {**row, "seconds": 0.0}, {**row, "library": "NCCL"}, row])
    >>> len(kept), notes
    (2, ['1 row left out: a time of 0 cannot be true',
    '1 row left out: of NCCL, and not of Gloo as the last one'])
    """
    every = list(rows)
    reasons: Counter[str] = Counter()
    true = []
    for row in every:
        reason = _doubt(row)
        if reason is None:
            true.append(row)
        else:
            reasons[reason] += 1
    last = _of_measure(true)
    kept = []
    for row in true:
        strange = "" if last is None else _strange(row, last)
        if strange:
            reasons[strange] += 1
        else:
            kept.append(row)
    return kept, [_told(count, reason) for reason, count in reasons.items()]


def _told(count: int, reason: str) -> str:
    return f"{count} {'row' if count == 1 else 'rows'} left out: {reason}"


def _doubt(row: MeasuredRow) -> str | None:
    if row["seconds"] > _DAY:
        return f"{row['seconds']:.6g} s are more than a call can take"
    whole = {**row, "collective": row.get("collective") or "sendrecv"}
    return doubt(row_of(whole, Source()))


def _of_measure(rows: Sequence[MeasuredRow]) -> MeasuredRow | None:
    return next((row for row in reversed(rows) if row.get("library")), None)


def _strange(row: MeasuredRow, last: MeasuredRow) -> str:
    """Return in what a row was measured on something else than the last one."""
    here, there = setup_of(row), setup_of(last)
    if here == there or row.get("library") is None:
        return ""
    names = ("", "", "ranks per GPU ", "cores ")
    both = zip(names, here, there, strict=True)
    one, other = next((f"{n}{a}", f"{n}{b}") for n, a, b in both if a != b)
    return f"of {one}, and not of {other} as the last one"
