"""Alpha, beta and what ranks share, and how well they predict schedules; for the reader."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from collsim.calibrate.point_to_point.against import Compared
from collsim.calibrate.point_to_point.fit import PointToPoint
from collsim.calibrate.point_to_point.nodes import Nodes
from collsim.core.profile import ErrorSummary, Parameter
from collsim.report.table import aligned, format_us
from collsim.units import format_bandwidth, format_size, format_time

__all__ = ["KEYS", "compared_rows", "point_text"]

KEYS: Final = (
    "collective", "algorithm", "chunks", "ranks", "size", "measured_us", "predicted_us",
    "ratio",
)  # fmt: skip


def compared_rows(pairs: Sequence[Compared]) -> list[dict[str, object]]:
    """Return measured schedules beside their predictions."""
    return [
        {
            **{key: pair.row.get(key) for key in KEYS[:5]},
            "measured_us": pair.row["seconds"] * 1e6,
            "predicted_us": pair.predicted * 1e6,
            "ratio": pair.ratio,
        }
        for pair in pairs
    ]


def point_text(
    found: PointToPoint,
    pairs: Sequence[Compared],
    files: Sequence[str],
    nodes: Nodes | None = None,
) -> str:
    """Return a fit as text, the schedules that it predicts, and where it was written."""
    lines = _fit_lines(found)
    if nodes is not None:
        lines = ["between nodes", *_nodes_lines(nodes)]
        if nodes.inside is not None:
            lines += ["inside a node", *_fit_lines(nodes.inside)]
    if pairs:
        spread = _spread(np.array([pair.ratio for pair in pairs]))
        lines += ["", f"our schedules, predicted from these messages alone: {spread}"]
        lines.append(_table(pairs))
    return "\n".join([*lines, "", *(f"wrote {file}" for file in files)])


def _nodes_lines(nodes: Nodes) -> list[str]:
    lines = _fit_lines(nodes.between)
    if nodes.ranks_per_node > 1:
        shared = "one for each rank"
        if nodes.nics < nodes.ranks_per_node:
            shared = f"{nodes.nics} for {nodes.ranks_per_node} ranks"
        lines.append(f"NICs of a node      {shared}, by how messages at once wait")
    if nodes.both_ways is not None:
        lines.append(f"both ways at once   {nodes.both_ways:.2f} times as long as one way")
    return lines


def _fit_lines(found: PointToPoint) -> list[str]:
    alone = f"alpha {_time(found.alpha)}, 1/beta {_rate(found.beta)}"
    lines = [f"one message         {alone}, {_off(found.alone)}"]
    if found.together is not None:
        how = "they do not wait for each other"
        if found.shares:
            how = f"{_time(found.busy)} and 1/beta {_rate(found.shared)} for each that waits"
            how += f" ({found.lanes} need not)" if found.lanes > 1 else ""
        lines.append(f"several at once     {how}, {_off(found.together)}")
    if found.launch.value:
        lines.append(f"beginning together  {_time(found.launch)}")
    if found.gamma:
        lines.append(f"adding up           {format_bandwidth(1 / found.gamma)}")
    return lines


def _table(pairs: Sequence[Compared]) -> str:
    rows = [
        (
            str(pair.row["collective"]),
            str(pair.row["algorithm"]),
            format_size(pair.row["size"]),
            format_us(pair.row["seconds"] * 1e6),
            format_us(pair.predicted * 1e6),
            f"{pair.ratio:.2f}",
        )
        for pair in pairs
    ]
    titles = ("collective", "algorithm", "size", "measured us", "predicted us", "ratio")
    return aligned(titles, rows, left=titles[:2])


def _time(parameter: Parameter) -> str:
    return format_time(parameter.value)


def _rate(parameter: Parameter) -> str:
    return format_bandwidth(1 / parameter.value) if parameter.value else "no limit"


def _off(errors: ErrorSummary) -> str:
    return f"off by {errors.median:.1%} in the median of {errors.n} rows"


def _spread(ratios: Any) -> str:
    # What is predicted too short is never off by 100 %: the ratios tell how much too short.
    off = np.abs(1 / ratios - 1)
    return (
        f"off by {float(np.median(off)):.1%} in the median, "
        f"{float(np.quantile(off, 0.9)):.1%} at the 90th percentile; they take "
        f"{float(ratios.min()):.3g} to {float(ratios.max()):.3g} times the predicted time"
    )
