"""Rows of a sweep as a table for people."""

from collections.abc import Sequence
from typing import Final, TypedDict

from collsim.report.table import aligned, format_number, format_us
from collsim.units import format_size

__all__ = ["Record", "sweep_table"]

_LEFT: Final = ("cluster", "change", "collective", "algorithm", "protocol")


class Record(TypedDict, total=False):
    """One row of the answer, by column; see :class:`collsim.choose.rows.Row`."""

    sweep: str
    point: int
    cluster: str
    nodes: int | None
    ranks: int | None
    change: str | None
    collective: str
    asked: str
    size: float
    count: int
    dtype: str
    op: str | None
    root: int | None
    algorithm: str
    protocol: str | None
    chunks: int
    channels: int
    model: str
    sharing: str
    time_us: float
    algbw: float
    busbw: float
    alpha_us: float
    beta_us: float
    gamma_us: float
    launch_us: float
    waiting_us: float
    lower_bound_us: float
    efficiency: float | None
    reason: str | None


def sweep_table(rows: Sequence[Record]) -> str:
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
    cells: list[list[str]] = []
    reasons: dict[str, int] = {}
    for row in rows:
        reason = row["reason"]
        known = reason is None
        number = 0 if reason is None else reasons.setdefault(reason, len(reasons) + 1)
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


def _shown(value: object) -> str:
    return "-" if value is None else str(value)
