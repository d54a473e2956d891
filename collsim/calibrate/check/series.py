"""Measured rows in series: what one benchmark did at growing sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

from collsim.calibrate.message import is_message
from collsim.core.measurements import Measurement

__all__ = ["Series", "series_of"]


@dataclass(frozen=True)
class Series:
    """Rows of one file, collective, rank and node count, ascending in size.

    Parameters
    ----------
    rows : tuple of Measurement
        At least one.
    by : str
        What ran, where other rows of the same ran otherwise at the same size; else empty.
    """

    rows: tuple[Measurement, ...]
    by: str = ""

    @property
    def title(self) -> str:
        """What the rows are of."""
        row = self.rows[0]
        words = f"{row.collective} on {row.ranks} ranks"
        if row.nodes is not None:
            words += f" of {row.nodes} node{'s' if row.nodes > 1 else ''}"
        return f"{words} by {self.by}" if self.by else words


def series_of(rows: Sequence[Measurement]) -> list[Series]:
    """Return rows in series, in the order of their files.

    A sweep in which a library took another algorithm from some size on is one series. Where
    several algorithms or protocols ran at the same size, somebody forced them, and each is a
    series.

    Examples
    --------
    >>> rows = [Measurement("all_reduce", 8, n, 1e-5, algorithm=a)
    ...         for n in (8, 16) for a in ("ring", "tree")]
    >>> [(one.title, len(one.rows)) for one in series_of(rows)]
    [('all_reduce on 8 ranks by ring', 2), ('all_reduce on 8 ranks by tree', 2)]
    """
    files = list(dict.fromkeys(row.source.file for row in rows))
    places = {file: place for place, file in enumerate(files)}
    groups: dict[tuple[int, str, int, int, bool], list[Measurement]] = {}
    for row in rows:
        key = (places[row.source.file], row.collective, row.ranks, row.nodes or 0,
               is_message(row))  # fmt: skip
        groups.setdefault(key, []).append(row)
    found = []
    for key in sorted(groups):
        some = groups[key]
        forced = _forced(some)
        parts: dict[str, list[Measurement]] = {}
        for row in some:
            parts.setdefault(_ran(row) if forced else "", []).append(row)
        found += [
            Series(tuple(sorted(part, key=lambda row: row.nbytes)), by)
            for by, part in sorted(parts.items())
        ]
    return found


def _ran(row: Measurement) -> str:
    return "/".join(filter(None, (row.algorithm, row.protocol))) or "what is not said"


def _forced(rows: Sequence[Measurement]) -> bool:
    """Return whether several algorithms or protocols ran at one size."""
    ran: dict[int, str] = {}
    return any(ran.setdefault(row.nbytes, _ran(row)) != _ran(row) for row in rows)
