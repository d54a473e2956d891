"""A simulation as lanes over time, with its critical path."""

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.plot.heading import counted, head
from collsim.plot.lanes import Bars, By, Cells, Per, timeline_lanes
from collsim.plot.messages import (
    PATH,
    WIDTH,
    draw_bars,
    draw_late,
    draw_launch,
    draw_nodes,
    draw_path,
)
from collsim.plot.style import (
    check_path,
    drawn,
    linear_time_axis,
    shades,
    spaced,
    time_label,
)
from collsim.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_timeline"]

# Inches of all lanes together, and of one.
_HEIGHT, _LEAST, _MOST, _GROUP = 9.0, 0.1, 0.42, 0.2
_ROUNDS: Final = 32  # lines of rounds between which there is something to see
# Of the width of the axes, what a digit of a round takes.
_DIGIT: Final = 0.0095
_PARTS: Final = {
    "launch": "launch",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "waiting": "waiting",
}


@checked
def plot_timeline(
    timeline: Timeline,
    cluster: Cluster,
    path: str | os.PathLike[str] | None = None,
    *,
    algorithm: str | None = None,
    by: By = "round",
    per: Per = "rank",
) -> "Figure":
    """Draw who sends when, and the critical path.

    Parameters
    ----------
    timeline : Timeline
        From :func:`collsim.simulate`.
    cluster : Cluster
        What it was simulated on.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.
    algorithm : str, optional
        Its name, for the title.
    by : {"round", "chunk"}
        What the fillings of messages tell apart.
    per : {"rank", "port"}
        A lane for what every rank sends, or two for what it sends and receives. More than
        64 ranks, or 12,000 messages, are drawn as groups and how busy these are.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which a notebook shows.

    Raises
    ------
    InputError
        For another ending, or where nothing takes any time.
    FileError
        If the file can't be written.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> cluster = Cluster.ideal(4, "10us", "900GB/s")
    >>> timeline = simulate(build("broadcast", "mst", 4), cluster, 1000)
    >>> figure = plot_timeline(timeline, cluster, algorithm="mst")
    >>> figure.axes[0].get_title(loc="left")
    'broadcast of 1000 B on 4 ranks of ideal: mst'
    """
    if path is not None:
        check_path(path)
    found = timeline_lanes(timeline, cluster, by=by, per=per)
    return drawn(lambda: _draw(found, timeline, cluster, algorithm, by), path)


def _draw(
    found: Bars | Cells, timeline: Timeline, cluster: Cluster, algorithm: str | None, by: By
) -> "Figure":
    from matplotlib.lines import Line2D

    from collsim.plot.picture import Picture

    most = _MOST if isinstance(found, Bars) else _GROUP
    lane = max(_LEAST, min(most, _HEIGHT / len(found.names)))
    # Short pictures need room for what is beside them.
    height = 2.0 + max(lane * len(found.names), 0.9)
    figure = Picture(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    linear_time_axis(axes, timeline.makespan)
    axes.set_ylim(len(found.names) - 0.5, -0.5)
    letters = max(5.0, min(9.5, 0.74 * 72 * lane))
    axes.set_yticks(range(len(found.names)), found.names, fontsize=letters)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x", color="#DDE1E5", linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    handles: list[Any] = []
    if isinstance(found, Bars):
        axes.set_ylabel("port" if found.names[0].endswith(" out") else "rank, sending")
        draw_nodes(axes, found, cluster)
        handles += draw_bars(axes, found, timeline, lane, by)
        draw_late(axes, found, cluster)
    else:
        axes.set_ylabel("ranks, sending")
        _cells(axes, found)
        _rounds(axes, timeline)
    if timeline.critical_path:
        draw_path(axes, found, timeline)
        handles.append(Line2D([], [], color=PATH, lw=1.8, label="critical path"))
    if cluster.launch:
        handles += draw_launch(axes, found, cluster)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), 6), frameon=False,
        handlelength=2.0,
    )  # fmt: skip
    above = 26.0 if isinstance(found, Cells) else 0.0
    name = timeline.schedule.collective.name
    size = spaced(format_size(timeline.nbytes, 4))
    title = f"{name} of {size} on {counted(cluster.ranks, 'rank')} of {cluster.name}"
    head(axes, title + (f": {algorithm}" if algorithm else ""), _sum(timeline), 1.4, above)
    return figure


def _sum(timeline: Timeline) -> str:
    parts = [
        f"{name} {time_label(float(f'{seconds:.4g}'))}"
        for part, name in _PARTS.items()
        # What is less is rounding.
        if (seconds := getattr(timeline.breakdown, part)) > 1e-9 * timeline.makespan
    ]
    whole = time_label(float(f"{timeline.makespan:.4g}"))
    steps = f"{counted(timeline.rounds, 'round')}, {counted(timeline.operations, 'message')}"
    return f"{whole} = {' + '.join(parts)} along the critical path; {steps}"


def _rounds(axes: "Axes", timeline: Timeline) -> None:
    """Mark where the first message of every round begins, as far as there is room."""
    begins = np.full(timeline.rounds, np.inf)
    np.minimum.at(begins, timeline.schedule.round, timeline.start)
    above = axes.secondary_xaxis("top")
    places: list[float] = []
    names: list[str] = []
    for number, begin in enumerate(begins.tolist(), 1):
        room = max(1 / _ROUNDS, _DIGIT * (len(str(number)) + 1)) * timeline.makespan
        if begin < np.inf and (not places or begin - places[-1] > room):
            places.append(begin)
            names.append(str(number))
    above.set_xticks(places, names, fontsize=8)
    above.set_xlabel("round that begins", fontsize=8.5, loc="right", labelpad=2)
    above.tick_params(length=3, pad=1)
    for place in places[1:]:
        axes.axvline(place, color="#FFFFFF", lw=0.6, zorder=2)


def _cells(axes: "Axes", found: Cells) -> None:
    high = len(found.names) - 0.5
    image = axes.imshow(
        found.share, aspect="auto", cmap=shades(), vmin=0.0, vmax=1.0, interpolation="nearest",
        extent=(0.0, float(found.edges[-1]), high, -0.5), zorder=1,
    )  # fmt: skip
    for y in range(1, len(found.names)):
        axes.axhline(y - 0.5, color="#FFFFFF", lw=0.8, zorder=2)
    figure = axes.get_figure()
    if figure is not None:
        bar = figure.colorbar(image, ax=axes, fraction=0.025, pad=0.02, aspect=30)
        bar.set_label("ranks that are sending")
        bar.ax.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
