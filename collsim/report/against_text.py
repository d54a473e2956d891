"""NCCL's choice beside the best that it has, for the reader."""

from collections.abc import Sequence

from collsim.choose.against import Comparison, Loss
from collsim.report.table import aligned, format_us
from collsim.units import format_size

__all__ = ["against_text", "summary"]


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
            row.best_algorithm,
            "-" if row.nccl_us is None else format_us(row.nccl_us),
            format_us(row.time_us),
            "-" if row.gain is None else f"x{row.gain:.4g}",
            "-" if row.most is None else f"x{row.most:.4g} at {format_size(row.most_size, 4)}",
        )
        for row in found.rows
    ]
    titles = (
        "from (B)",
        "to (B)",
        "",
        "NCCL's",
        "best",
        "its us",
        "best us",
        "gain",
        "at most",
    )
    table = aligned(titles, rows, left=("", "NCCL's", "best", "at most"))
    head = f"{found.collective} on {where}, NCCL {found.version}'s choice by its own model"
    note = "times and gain, simulated, at the geometric middle of each range"
    return "\n".join([head, summary(found), table, note])


def summary(found: Comparison) -> str:
    """Return in words where NCCL's choice is good, and where and by how much it is not.

    Examples
    --------
    >>> row = Loss(8, 99, "ring", "ll", 1, "ring", "ring", 28, 9.0, 9.0, 1.0, 1.0, 8, False)
    >>> print(summary(Comparison("all_gather", "2.30", ("ring",), 0.03, (row,), ())))
    NCCL has ring alone there, so there is nothing to choose.
    """
    if len(found.available) == 1:
        return f"NCCL has {found.available[0]} alone there, so there is nothing to choose."
    texts = []
    for verdict, spans in _grouped(found.rows).items():
        if verdict == "good":
            ranges = " and ".join(_span(a, b) for a, b, _ in spans)
            texts.append(
                f"is within {100 * found.min_gain:.3g} % of the best that it has {ranges}"
            )
        for a, b, row in spans if verdict != "good" else ():
            times = f"up to {row.most or 1.0:.3g} times as long as {row.best_algorithm}"
            if verdict == "gained":
                texts.append(f"takes {times} {_span(a, b)}")
            else:
                texts.append(
                    f"may take {times} {_span(a, b)}, if NCCL's latencies were the "
                    "cluster's: which only a profile tells, so it does not count"
                )
    unknown = [row for row in found.rows if row.gain is None]
    more = f" What {unknown[0].nccl_algorithm} takes is not simulated here." if unknown else ""
    return f"NCCL's choice {'; it '.join(texts)}.{more}"


def _span(low: int, high: int) -> str:
    return f"from {format_size(low, 4)} to {format_size(high, 4)}"


def _grouped(rows: Sequence[Loss]) -> dict[str, list[tuple[int, int, Loss]]]:
    """Return the ranges where nothing is gained, joined; where it is; where it may be."""
    groups: dict[str, list[tuple[int, int, Loss]]] = {"good": [], "gained": [], "doubtful": []}
    for row in rows:
        verdict = "gained" if row.gained else "doubtful" if row.doubtful else "good"
        group = groups[verdict]
        if verdict == "good" and group and group[-1][1] + 1 == row.min_bytes:
            group[-1] = (group[-1][0], row.max_bytes, row)
        else:
            group.append((row.min_bytes, row.max_bytes, row))
    return {verdict: group for verdict, group in groups.items() if group}
