"""NCCL's choice beside the best that it has, for the reader."""

from collections.abc import Iterable
from typing import Final

from collsim.choose.against import Comparison, Loss
from collsim.report.table import aligned, format_us
from collsim.units import format_size

__all__ = ["against_text", "summary"]

_TITLES: Final = (
    "from (B)",
    "to (B)",
    "",
    "NCCL's",
    "best",
    "at",
    "its us",
    "best us",
    "gain",
    "model: its",
    "model: best",
    "at most",
)
_NOTE: Final = (
    "at: the geometric middle of each range, where its us, best us and gain are {how}; "
    "model: what NCCL's own model says of both there, in us"
)
_MAY: Final = (
    "Where it may, that hinges on latencies of NCCL that only a profile tells, so it does not "
    "count."
)
_UNSHOWN: Final = "no row of the fit is of such sizes"
_UNKNOWN: Final = (
    "What NCCL chooses is not known: its table does not tell what ran where the profile was "
    "fitted. The fastest that it has is taken for it, as in predict and check, so that nothing "
    "gains."
)


def against_text(found: Comparison, where: str) -> str:
    """Return a comparison as text: a paragraph, then a line for each range of sizes.

    Parameters
    ----------
    found : Comparison
        The comparison.
    where : str
        Ranks and cluster, in words.
    """
    rows = [
        (
            str(row.min_bytes),
            str(row.max_bytes),
            f"to {format_size(row.max_bytes, 4)}",
            f"{row.nccl_algorithm}/{row.nccl_protocol}",
            found.best(row),
            format_size(row.size, 4),
            _us(row.nccl_us),
            _us(row.time_us),
            "-" if row.gain is None else f"x{row.gain:.4g}",
            _us(row.nccl_model_us),
            _us(row.best_model_us),
            "-" if row.most is None else f"x{row.most:.4g} at {format_size(row.most_size, 4)}",
        )
        for row in found.rows
    ]
    table = aligned(_TITLES, rows, left=("", "NCCL's", "best", "at most"))
    head = f"{found.collective} on {where}, NCCL {found.version}'s choice by its own model"
    if not found.by_table:
        head = f"{found.collective} on {where}, NCCL {found.version}, the fastest by the fit"
    note = _NOTE.format(how="fitted" if found.fitted else "simulated")
    return "\n".join([head, summary(found), table, note])


def _us(microseconds: float | None) -> str:
    return "-" if microseconds is None else format_us(microseconds)


def summary(found: Comparison) -> str:
    """Return in words where NCCL's choice is good, and where and by how much it is not.

    Examples
    --------
    >>> print(summary(Comparison("all_gather", "2.30", ("ring",), 0.03, (), ())))
    NCCL has ring alone there, so there is nothing to choose.
    """
    if len(found.available) == 1:
        return f"NCCL has {found.available[0]} alone there, so there is nothing to choose."
    if not found.by_table:
        return _UNKNOWN
    good = [_span(a, b) for a, b in _joined(r for r in found.rows if _verdict(r) == "good")]
    least = f"within {100 * found.min_gain:.3g} % of the best" if found.min_gain else "the best"
    texts = [f"is {least} that it has {' and '.join(good)}"] if good else []
    texts += [f"takes {_times(found, row)}" for row in found.changes()]
    doubtful = [f"may take {_times(found, row)}" for row in found.changes(doubtful=True)]
    texts += doubtful
    unknown = _joined(r for r in found.rows if r.gain is None)
    texts += [f"is not simulated here {' and '.join(_span(a, b) for a, b in unknown)}"] * bool(
        unknown
    )
    why = f" {_why(found)}" if doubtful else ""
    return f"NCCL's choice {'; it '.join(texts)}.{why}"


def _why(found: Comparison) -> str:
    """Return why what may gain does not count."""
    if not found.fitted:
        return _MAY
    return f"Where it may, it does not count: {found.held or _UNSHOWN}."


def _times(found: Comparison, row: Loss) -> str:
    times = f"up to {row.most or 1.0:.3g} times as long as {found.best(row)}"
    return f"{times} {_span(row.min_bytes, row.max_bytes)}"


def _span(low: int, high: int) -> str:
    return f"from {format_size(low, 4)} to {format_size(high, 4)}"


def _verdict(row: Loss) -> str:
    if row.gain is None:
        return "unknown"
    return "gained" if row.gained else "doubtful" if row.doubtful else "good"


def _joined(rows: Iterable[Loss]) -> list[tuple[int, int]]:
    """Return the sizes of some rows, neighbours together."""
    spans: list[tuple[int, int]] = []
    for row in rows:
        if spans and spans[-1][1] + 1 == row.min_bytes:
            spans[-1] = (spans[-1][0], row.max_bytes)
        else:
            spans.append((row.min_bytes, row.max_bytes))
    return spans
