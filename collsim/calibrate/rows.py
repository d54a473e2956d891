"""Which measured rows a formula can be held against, and which do not go together."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from collsim.algorithms import algorithm_names
from collsim.calibrate.message import is_message
from collsim.core.collective import collective
from collsim.core.measurements import CPU_TIME, LeftOut, Measurement
from collsim.errors import InputError
from collsim.nccl.names import OUR_NAME

__all__ = ["NO_COLLECTIVE", "left_out_notes", "refuse_mixed", "usable"]

NO_COLLECTIVE: Final = "no collective"
"""How the reason ends for which `calibrate measure` says that rows are no collective's."""
_TWO: Final = 2
# Seconds, as in files of clusters and profiles; sums and quotients of others are infinite.
_LEAST, _MOST = 1e-30, 1e9


def usable(
    rows: Sequence[Measurement], algorithm: str | None
) -> tuple[list[Measurement], list[str]]:
    """Return the rows that tell something about links, and why the others don't.

    Examples
    --------
    >>> rows = [Measurement("all_reduce", 8, n, 1e-5) for n in (0, 1024)]
    >>> kept, notes = usable(rows, "ring")
    >>> len(kept), notes
    (1, ['1 row left out: 0 bytes, where libraries return without communication'])
    """
    kept, counts = [], Counter[str]()
    for row in rows:
        reason = _reason(row, algorithm)
        if reason is None:
            kept.append(row)
        else:
            counts[reason] += 1
    return kept, [f"{_rows(n)} left out: {reason}" for reason, n in counts.items()]


def left_out_notes(left_out: Iterable[LeftOut]) -> list[str]:
    """Return what was left out of files, a line for each reason.

    Patterns of messages that are no collective have one line together.

    Examples
    --------
    >>> left = [LeftOut("a", n, "out of place: 3 elements are wrong") for n in (4, 5, 7)]
    >>> left_out_notes(left)
    ['a:4: out of place: 3 elements are wrong (and 2 more such rows, up to line 7)']
    >>> left_out_notes(LeftOut("a", 1, f"{p}, of some kind: {NO_COLLECTIVE}") for p in "xyx")
    ['a: 3 rows left out, no collective: x, y']
    """
    reasons: dict[tuple[str, str], list[LeftOut]] = {}
    for left in left_out:
        message = left.reason.endswith(f": {NO_COLLECTIVE}")
        key = NO_COLLECTIVE if message else left.reason
        reasons.setdefault((left.file, key), []).append(left)
    notes = []
    for (file, reason), some in reasons.items():
        if reason == NO_COLLECTIVE:
            names = dict.fromkeys(left.reason.partition(",")[0] for left in some)
            kinds = ", ".join(names)
            notes.append(f"{file}: {_rows(len(some))} left out, {reason}: {kinds}")
        elif len(some) == 1:
            notes.append(str(some[0]))
        else:
            more = "1 more such row" if len(some) == _TWO else f"{len(some) - 1} more such rows"
            last = max(left.line for left in some)
            notes.append(f"{some[0]} (and {more}, up to line {last})")
    return notes


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _reason(row: Measurement, algorithm: str | None) -> str | None:
    if row.wrong:
        return "wrong results"
    if row.ranks == 1:
        return "one rank, where nothing crosses a link"
    if row.nbytes == 0:
        return "0 bytes, where libraries return without communication"
    doubt = _doubt_of_time(row)
    if doubt is None and algorithm is not None and not _is_of(row, algorithm):
        return f"algorithm {row.algorithm} ran, not {algorithm}{_cure(row)}"
    return doubt


def _cure(row: Measurement) -> str:
    """Return which algorithm a row of another one is of, by our name, if there is one."""
    ours = OUR_NAME.get(str(row.algorithm), str(row.algorithm))
    known = ours in algorithm_names(row.collective)
    return f"; --algorithm {ours} takes them" if known else ""


def _doubt_of_time(row: Measurement) -> str | None:
    if (row.source.clock or "").startswith(CPU_TIME):
        return "CPU time (nccl-tests -C), which is not the time of the collective"
    if not _LEAST <= row.seconds <= _MOST:
        time = f"{row.seconds:g} s" if row.seconds else "0"
        return f"a time of {time}, which cannot be true"
    return None


def _is_of(row: Measurement, algorithm: str) -> bool:
    """Return whether a row can be of an algorithm, by our name or NCCL's."""
    ran = row.algorithm
    # One message costs what one of several at once does, where nothing is shared.
    alone = is_message(row) and algorithm == "direct"
    return ran in (None, algorithm) or OUR_NAME.get(str(ran)) == algorithm or alone


def refuse_mixed(rows: Sequence[Measurement], *, protocols: bool = False) -> list[str]:
    """Return notes about what is mixed; raise InputError about what must not be.

    Rows of several process models, clocks, backends, devices or protocols are no one system.
    Several element types are, where bytes are only copied; and several protocols, with
    `protocols`, for a model that tells them apart.
    """
    _one("process models", rows, lambda row: row.source.process_model, "fit their files apart")
    _one("clocks", rows, lambda row: row.source.clock, "fit their files apart")
    _one("backends", rows, lambda row: row.source.backend, "fit their files apart")
    _one("devices", rows, lambda row: row.source.device, "fit their files apart")
    if not protocols:
        _one(
            "protocols", rows, lambda row: row.protocol, "choose with --where 'protocol == ...'"
        )
    reducing = [row for row in rows if collective(row.collective).reduces]
    _one("element types", reducing, lambda row: row.dtype, "choose with --where 'dtype == ...'")
    dtypes = sorted({row.dtype for row in rows if row.dtype is not None})
    if len(dtypes) > 1:
        return [f"rows of types {', '.join(dtypes)} together: as bytes that are only copied"]
    return []


def _one(
    what: str, rows: Sequence[Measurement], key: Callable[[Measurement], str | None], cure: str
) -> None:
    first: dict[str, Measurement] = {}
    for row in rows:
        value = key(row)
        if value is not None:
            first.setdefault(value, row)
    if len(first) > 1:
        found = ", ".join(f"{value!r} ({row.source})" for value, row in first.items())
        raise InputError(f"rows of different {what}: {found}; {cure}")
