"""Runs that went wrong, whatever the times of the rows that are left."""

from collections.abc import Iterable, Sequence

from collsim.core.measurements import LeftOut, Measurement

__all__ = ["failures_of"]


def failures_of(left_out: Iterable[LeftOut], rows: Iterable[Measurement]) -> tuple[str, ...]:
    """Return what went wrong in runs, a sentence for each file.

    Parameters
    ----------
    left_out : iterable of LeftOut
        What was left out of the files.
    rows : iterable of Measurement
        Rows, of which those with wrong results count.

    Examples
    --------
    >>> failures_of([LeftOut("a", 3, "9 elements are wrong", failed=True)], [])
    ('a:3: 9 elements are wrong',)
    """
    files: dict[str, list[LeftOut]] = {}
    for left in left_out:
        if left.failed:
            files.setdefault(left.file, []).append(left)
    for row in rows:
        if row.wrong:
            reason = f"{row.wrong} elements are wrong"
            found = LeftOut(row.source.file, row.source.line, reason, failed=True)
            files.setdefault(row.source.file, []).append(found)
    return tuple(_sentence(found) for found in files.values())


def _sentence(found: Sequence[LeftOut]) -> str:
    first = str(found[0]) if found[0].file else found[0].reason
    return first if len(found) == 1 else f"{first}, and {len(found) - 1} more such"
