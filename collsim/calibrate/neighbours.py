"""Measured points that take longer than larger ones of the same kind: a machine in use."""

from collections.abc import Iterable
from typing import Final

from collsim.core.measurements_format import MeasuredRow
from collsim.measure.cases import key_of
from collsim.units import format_size

__all__ = ["slow_points"]

# A change of protocol makes some larger sizes faster, and noise does; not that much.
_FACTOR: Final = 2.0
_NAMED: Final = 4


def slow_points(rows: Iterable[MeasuredRow]) -> list[str]:
    """Return a note on points that took more than twice as long as a larger size.

    The spread of a point tells how its times agreed while it was measured. Where another
    program had the machine just then they agree on too much, and only the neighbours tell.

    Parameters
    ----------
    rows : iterable of mapping
        As :func:`collsim.core.measurements_file.read_rows` returns them.

    Examples
    --------
    >>> rows = [{"collective": "all_reduce", "algorithm": "ring", "size": n, "seconds": t}
    ...     for n, t in ((32, 24e-3), (128, 23e-3), (512, 2e-3), (2048, 2.1e-3))]
    >>> slow_points(rows)
    ['2 points took more than twice as long as a larger size of the same kind, so the machine
    was busy with something else: all_reduce/ring at 32B, 128B; measure them anew, into another
    file']
    """
    series: dict[str, list[MeasuredRow]] = {}
    for row in rows:
        series.setdefault(key_of({**row, "size": None}), []).append(row)
    found: list[MeasuredRow] = []
    for of_kind in series.values():
        fastest = float("inf")
        slow = []
        for row in sorted(of_kind, key=lambda row: -int(row["size"])):
            if row["seconds"] > _FACTOR * fastest:
                slow.append(row)
            fastest = min(fastest, row["seconds"])
        found += reversed(slow)
    if not found:
        return []
    named = _named(found[:_NAMED]) + (" ..." if len(found) > _NAMED else "")
    points = "1 point" if len(found) == 1 else f"{len(found)} points"
    text = (
        f"{points} took more than twice as long as a larger size of the same kind, so the "
        f"machine was busy with something else: {named}; measure "
        f"{'it' if len(found) == 1 else 'them'} anew, into another file"
    )
    return [text]


def _named(rows: Iterable[MeasuredRow]) -> str:
    """Return kinds of points, each with its sizes."""
    sizes: dict[str, list[str]] = {}
    for row in rows:
        sizes.setdefault(_kind(row), []).append(format_size(int(row["size"])))
    return ", ".join(f"{kind} at {', '.join(found)}" for kind, found in sizes.items())


def _kind(row: MeasuredRow) -> str:
    pattern = row.get("pattern") or "collective"
    if pattern != "collective":
        return str(pattern)
    return f"{row['collective']}/{row.get('algorithm') or 'library'}"
