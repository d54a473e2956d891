"""Which measured rows a formula can be held against, and which do not go together."""

from collections import Counter
from collections.abc import Callable, Sequence

from collsim.core.collective import collective
from collsim.core.measurements import Measurement
from collsim.errors import InputError

__all__ = ["refuse_mixed", "usable"]

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


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _reason(row: Measurement, algorithm: str | None) -> str | None:
    if row.wrong:
        return "wrong results"
    if row.ranks == 1:
        return "one rank, where nothing crosses a link"
    if row.nbytes == 0:
        return "0 bytes, where libraries return without communication"
    if not _LEAST <= row.seconds <= _MOST:
        time = f"{row.seconds:g} s" if row.seconds else "0"
        return f"a time of {time}, which cannot be true"
    if algorithm is not None and row.algorithm not in (None, algorithm):
        return f"algorithm {row.algorithm} ran, not {algorithm}"
    return None


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
