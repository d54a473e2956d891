"""Rows of a sweep as a table for people."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from collsim.report.table import aligned, format_number, format_us
from collsim.units import format_size

__all__ = ["sweep_table"]

_LEFT: Final = ("cluster", "change", "collective", "algorithm", "protocol")


def sweep_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a table; what has no time has its reason below.

    Parameters
    ----------
    rows : sequence of mapping
        As :func:`collsim.sweep` gives them.

    Examples
    --------
    >>> row = {"cluster": "dgx-h100", "nodes": 2, "ranks": 16, "change": None, "size": 2**20,
    ...        "collective": "all_reduce", "asked": "ring", "algorithm": "ring", "chunks": 1,
    ...        "channels": 1, "time_us": 459.3, "busbw": 4.28, "reason": None}
    >>> print(sweep_table([row]))
    cluster   nodes  ranks  collective  size  algorithm  chunks  time (us)  busbw (GB/s)
    dgx-h100      2     16  all_reduce  1MiB  ring            1      459.3          4.28
    """
    changed = any(row["change"] for row in rows)
    header = [
        "cluster", "nodes", "ranks", *["change"] * changed, "collective", "size", "algorithm",
        "chunks", "time (us)", "busbw (GB/s)",
    ]  # fmt: skip
    cells = []
    reasons: dict[str, int] = {}
    for row in rows:
        known = row["reason"] is None
        number = 0 if known else reasons.setdefault(row["reason"], len(reasons) + 1)
        cells.append(
            [
                row["cluster"],
                _shown(row["nodes"]),
                _shown(row["ranks"]),
                *[_shown(row["change"])] * changed,
                row["collective"],
                format_size(row["size"], 4),
                row["algorithm"] if known else row["asked"],
                _shown(row["chunks"]),
                format_us(row["time_us"]) if known else f"[{number}]",
                format_number(row["busbw"]) if known else "-",
            ]
        )
    notes = [f"[{number}] {reason}" for reason, number in reasons.items()]
    return "\n".join([aligned(header, cells, _LEFT), *notes])


def _shown(value: Any) -> str:
    return "-" if value is None else str(value)
