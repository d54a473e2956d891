"""Time or bus bandwidth against the number of nodes or ranks, by algorithm."""

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from collsim.core.arguments import checked
from collsim.errors import InputError
from collsim.plot.ends import name_ends
from collsim.plot.heading import head
from collsim.plot.scaled import Scaling, scaling_curves
from collsim.plot.style import STYLES, check_path, drawn, spaced, time_axis
from collsim.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Scaling", "plot_scaling", "scaling_curves"]

_LETTER: Final = 0.08  # inches that a letter beside the axes takes
_TICKS: Final = 16  # counts that there is room to name
# Microseconds are what rows have, bus bandwidth is in GB/s.
_US, _GB = 1e-6, 1e9

Value = Literal["time", "busbw"]


@checked
def plot_scaling(
    found: Scaling, path: str | os.PathLike[str] | None = None, value: Value = "time"
) -> "Figure":
    """Draw how time or bus bandwidth grows with nodes or ranks.

    Parameters
    ----------
    found : Scaling
        From :func:`scaling_curves`.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.
    value : {"time", "busbw"}
        What is drawn upwards; bus bandwidth is nccl-tests'.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which a notebook shows.

    Raises
    ------
    InputError
        For another ending or value, or times of 0, which have no place on the axis.
    FileError
        If the file can't be written.

    Examples
    --------
    >>> from collsim.core.cluster import Cluster
    >>> clusters = [Cluster.ideal(p, "10us", "900GB/s") for p in (2, 4, 8)]
    >>> figure = plot_scaling(scaling_curves("all_reduce", clusters, "1MiB", ["ring"]))
    >>> figure.axes[0].get_xlabel()
    'ranks'
    """
    if path is not None:
        check_path(path)
    if value not in ("time", "busbw"):
        raise InputError(f"value: got {value!r}, expected time or busbw")
    return drawn(lambda: _draw(found, value), path)


def _draw(found: Scaling, value: Value) -> "Figure":
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    from collsim.plot.picture import Picture

    longest = max(len(name) for name in (*found.lines, "lower bound"))
    figure = Picture(figsize=(7.0 + _LETTER * longest, 5.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log", base=2)
    axes.set_xlim(found.counts[0] / 1.06, found.counts[-1] * 1.06)
    axes.xaxis.set_major_locator(FixedLocator(_ticks(found.counts)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    axes.set_xlabel(found.by)
    drawn = [_points(found, i, value) for i in range(len(found.lines))]
    bound = _bound(found, value)
    _upwards(axes, found, value, [y for points in (*drawn, bound) for _, y in points])
    ends = []
    styles: Sequence[dict[str, Any]] = STYLES
    for style, name, points in zip(styles, found.lines, drawn, strict=False):
        axes.plot(*zip(*points, strict=True), linewidth=1.9, markersize=6, label=name, **style)
        if points[-1][0] == found.counts[-1]:
            ends.append((*points[-1], name, str(style["color"])))
        else:
            _name_inside(axes, points[-1], name, value)
    if bound:
        grey = "#444444"
        axes.plot(*zip(*bound, strict=True), lw=1.2, color=grey, linestyle=(0, (1, 1.5)))
        ends.append((*bound[-1], "lower bound" if value == "time" else "upper bound", grey))
    name_ends(axes, ends)
    axes.grid(True, which="major", color="#BFC5CC", linewidth=0.5, zorder=1)
    axes.set_axisbelow(True)
    size = spaced(format_size(found.size, 4))
    what = "time" if value == "time" else "bus bandwidth"
    title = f"{found.collective} of {size} on {found.cluster}: {what} by {found.by}"
    words = found.shape if found.sharing == "fifo" else f"{found.shape}, sharing fair"
    head(axes, title, f"the largest: {words}", 1.0 + _LETTER * longest)
    return figure


def _ticks(counts: tuple[int, ...]) -> list[int]:
    """Return those that have room beside each other, the first and the last among them."""
    gap = math.log2(counts[-1] / counts[0]) / _TICKS
    kept = [counts[0]]
    for count in counts[1:-1]:
        if math.log2(count / kept[-1]) >= gap and math.log2(counts[-1] / count) >= gap:
            kept.append(count)
    return [*kept, counts[-1]]


def _name_inside(axes: "Axes", at: tuple[float, float], name: str, value: Value) -> None:
    """Name what ends before the largest count: times rise from there, bandwidths fall."""
    up = -11 if value == "time" else 11
    axes.annotate(
        name, at, xytext=(8, up), textcoords="offset points", ha="left", va="center",
        fontsize=9.5, zorder=6, bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 0.8},
    )  # fmt: skip


def _points(found: Scaling, line: int, value: Value) -> list[tuple[float, float]]:
    rows = list(found.lines.values())[line]
    return [
        (count, row.time_us * _US if value == "time" else row.busbw)
        for count, row in zip(found.counts, rows, strict=True)
        if row is not None and (value == "busbw" or row.time_us > 0)
    ]


def _bound(found: Scaling, value: Value) -> list[tuple[float, float]]:
    """Return the lower bound of times, or what that allows of bus bandwidth."""
    columns = zip(found.counts, found.bound_us, found.bus_factor, strict=True)
    return [
        (count, us * _US if value == "time" else found.size / (us * _US) / _GB * factor)
        for count, us, factor in columns
        if us > 0
    ]


def _upwards(axes: "Axes", found: Scaling, value: Value, values: list[float]) -> None:
    """Set up the axis of values, which must be there and above 0."""
    if not values or not max(values) > 0:
        raise InputError(
            f"plot: {found.collective} of {found.size:g} bytes on {found.cluster} has no "
            f"{value} above 0, so there is nothing to draw"
        )
    if value == "time":
        time_axis(axes)
        axes.set_ylim(min(values) / 1.25, max(values) * 1.25)
    else:
        axes.set_ylim(0.0, 1.06 * max(values))
        axes.set_ylabel("bus bandwidth (GB/s)")
