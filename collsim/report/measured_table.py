"""What was measured on real ranks, as nccl-tests prints it."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from collsim.core.collective import collective
from collsim.core.measurements_format import MeasuredRow
from collsim.report.table import aligned, format_number, format_us
from collsim.units import format_size

__all__ = ["KEYS", "measured_rows", "measured_text"]

KEYS: Final = (
    "pattern", "pairs", "collective", "ranks", "nodes", "size", "count", "dtype", "op", "root",
    "runs", "algorithm", "protocol", "chunks", "in_place", "time_us", "algbw", "busbw",
    "low_us", "high_us", "repetitions", "relative_error", "clock", "process_model", "backend",
    "library", "device",
)  # fmt: skip

# nccl-tests 2.19, src/util.cu: widths of a row.
_HEAD: Final = f"# {'size':>10}  {'count':>12}  {'type':>8}  {'redop':>6}  {'root':>6}"
_HALF: Final = f"{'time':>8}  {'algbw':>6}  {'busbw':>6}  {'#wrong':>6}"
_UNITS: Final = f"{'(us)':>8}  {'(GB/s)':>6}  {'(GB/s)':>6}"


def measured_rows(rows: Iterable[MeasuredRow]) -> list[dict[str, object]]:
    """Return rows with their bandwidths, all with the same keys.

    Examples
    --------
    >>> row = {"pattern": "collective", "collective": "all_reduce", "ranks": 4, "size": 8000,
    ...        "seconds": 8e-6}
    >>> made = measured_rows([row])[0]
    >>> made["algbw"], made["busbw"], made["device"]
    (1.0, 1.5, None)
    """
    return [
        {key: {**row, **_times(row), **_rates(row)}.get(key) for key in KEYS} for row in rows
    ]


def _times(row: MeasuredRow) -> dict[str, float | None]:
    found = {"time_us": row["seconds"], "low_us": row.get("low"), "high_us": row.get("high")}
    return {key: None if value is None else value * 1e6 for key, value in found.items()}


def _rates(row: MeasuredRow) -> dict[str, float]:
    seconds = row["seconds"]
    rate = row["size"] / seconds * 1e-9 if seconds else 0.0
    factor = 1.0
    if row.get("pattern", "collective") == "collective":
        factor = collective(row["collective"]).bus_factor(row["ranks"])
    return {"algbw": rate if factor else 0.0, "busbw": rate * factor}


def measured_text(rows: Sequence[MeasuredRow]) -> str:
    """Return nccl-tests' tables of the collectives, and one of the messages.

    A library that works in place fills the columns for that, as nccl-tests does.
    """
    parts = []
    whole = [row for row in rows if row.get("pattern", "collective") == "collective"]
    for (name, *how), group in groupby(whole, _what):
        parts.append(_table(str(name), how, list(group)))
    others = [row for row in rows if row.get("pattern", "collective") != "collective"]
    if others:
        parts.append(_messages(others))
    return "\n\n".join(parts) if parts else "nothing was measured"


def _what(row: MeasuredRow) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in ("collective", "runs", "algorithm", "protocol"))


def _table(name: str, how: Sequence[Any], rows: Sequence[MeasuredRow]) -> str:
    runs, algorithm, protocol = how
    first, last = rows[0], rows[-1]
    steps = (
        f"minBytes {first['size']} maxBytes {last['size']} step: 2(factor) warmup iters: 3 "
        f"iters: {first.get('repetitions', 1)} agg iters: 1 validation: 1 graph: 0"
    )
    said = "/".join(str(part) for part in (algorithm, protocol) if part)
    by = f"collsim's {said}" if runs == "schedule" else f"the library's {said or 'own'}"
    lines = [
        f"# Collective test starting: {name}_perf",
        f"# nThread 1 nGpus 1 {steps}",
        f"# collsim calibrate measure: {by}, {first['library']}, {first['clock']} time, median",
        "# Using devices",
        *_devices(first),
        "#",
        f"#{'':>59}out-of-place{'':>24}in-place",
        f"{_HEAD}  {_HALF}  {_HALF}",
        f"# {'(B)':>10}  {'(elements)':>12}{'':>26}{_UNITS}{'':>10}{_UNITS}",
    ]
    return "\n".join(lines + [_line(row) for row in rows])


def _devices(row: MeasuredRow) -> list[str]:
    ranks, nodes = int(row["ranks"]), int(row.get("nodes") or 1)
    of_node = -(-ranks // nodes)
    name = row.get("device") or "CPU"
    return [
        f"#  Rank {r:2d} Group  0 Pid {r + 1:6d} on {f'node{r // of_node}':>10} device "
        f"{r % of_node:2d} [0000:{r % of_node:02x}:00] {name}"
        for r in range(ranks)
    ]


def _line(row: MeasuredRow) -> str:
    rates, time = _rates(row), format_us(row["seconds"] * 1e6)
    cells = (
        f"{time:>8}  {_rate(rates['algbw'])}  {_rate(rates['busbw'])}"
        f"  {row.get('wrong', 'N/A'):>6}"
    )
    none = f"{'N/A':>8}  {'N/A':>6}  {'N/A':>6}  {'N/A':>6}"
    root = row.get("root", -1)
    halves = (none, cells) if row.get("in_place") else (cells, none)
    what = f"{row['dtype']:>8}  {row.get('op') or 'none':>6}  {root:>6}"
    return f"{row['size']:>12}  {_count(row):>12}  {what}  {'  '.join(halves)}"


def _count(row: MeasuredRow) -> int:
    """Return nccl-tests' count: of one rank where the buffer is cut into shares."""
    kind = collective(row["collective"])
    return int(row["count"]) // int(row["ranks"]) if kind.split else int(row["count"])


def _rate(value: float) -> str:
    return f"{value:6.2f}" if value < 1000 else f"{value:6.0f}"


def _messages(rows: Sequence[MeasuredRow]) -> str:
    table = [
        (
            str(row["pattern"]),
            _pairs(row.get("pairs")),
            format_size(row["size"]),
            format_us(row["seconds"] * 1e6),
            f"{format_us(row['low'] * 1e6)} to {format_us(row['high'] * 1e6)}",
            str(row["repetitions"]),
            format_number(_rates(row)["algbw"]),
        )
        for row in rows
    ]
    titles = ("messages", "ranks", "size", "time (us)", "quartiles", "times", "GB/s of each")
    return aligned(titles, table, left=("messages", "ranks"))


def _pairs(pairs: Sequence[Sequence[int]] | None) -> str:
    shown = " ".join(f"{a}-{b}" for a, b in (pairs or ())[:4])
    return shown + (" ..." if len(pairs or ()) > 4 else "")
