"""What lies in the lanes of a timeline: messages, launches, late ranks, the critical path."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.plot.lanes import Bars, By, Cells
from collsim.plot.style import fill, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

__all__ = ["PATH", "WIDTH", "draw_bars", "draw_late", "draw_launch", "draw_nodes", "draw_path"]

WIDTH: Final = 10.0  # inches of the picture
PATH: Final = "#000000"
_LETTER: Final = 0.072  # inches that a letter on a bar takes
_KINDS: Final = 8  # values that a legend lists; more are a scale of shades
_LABELS: Final = 600  # bars on which something is written
_FILL: Final = 0.84  # of a lane, what its bars take


def draw_nodes(axes: "Axes", found: Bars, cluster: Cluster) -> None:
    """Shade every second node, and name all on the right."""
    if cluster.nodes == 1:
        return
    changes = np.flatnonzero(np.diff(found.node)) + 1
    for low, high in zip([0, *changes], [*changes, found.node.size], strict=True):
        if int(found.node[low]) % 2:
            axes.axhspan(low - 0.5, high - 0.5, color="#F0F0F0", zorder=0, lw=0)
        axes.annotate(
            f"node {int(found.node[low])}", (1.0, (low + high - 1) / 2), xytext=(6, 0),
            xycoords=("axes fraction", "data"), textcoords="offset points", va="center",
            fontsize=9, annotation_clip=False,
        )  # fmt: skip


def _boxes(found: Bars) -> tuple[Any, Any, Any]:
    """Return corners of all bars, and the middle and the height of each."""
    height = _FILL / found.rows[found.lane]
    top = found.lane - _FILL / 2 + found.row * height
    corners = np.stack(
        [
            np.stack([x, y], axis=1)
            for x, y in (
                (found.begin, top),
                (found.end, top),
                (found.end, top + height),
                (found.begin, top + height),
            )
        ],
        axis=1,
    )
    return corners, top + height / 2, height


def draw_bars(
    axes: "Axes", found: Bars, timeline: Timeline, lane: float, by: By
) -> "list[Patch]":
    """Draw every message, by its round or chunk; return what a legend needs.

    Parameters
    ----------
    axes : Axes
        Of times and lanes.
    found : Bars
        The messages.
    timeline : Timeline
        That they are of.
    lane : float
        Inches of a lane's height.
    by : {"round", "chunk"}
        What `found.value` is.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    corners, middle, height = _boxes(found)
    values = np.unique(found.value)
    handles: list[Patch] = []
    width = 0.4 if found.begin.size < _LABELS else 0.15
    if values.size <= _KINDS:
        for i, value in enumerate(values.tolist()):
            style = fill(i)
            own = corners[found.value == value]
            axes.add_collection(PolyCollection(own, linewidths=width, zorder=2, **style))
            handles.append(Patch(label=f"{by} {value}", linewidth=0.5, **style))
    else:
        drawn = PolyCollection(
            corners, array=found.value, cmap=shades(), linewidths=width, edgecolors="#555555",
            zorder=2,
        )  # fmt: skip
        drawn.set_clim(values[0], values[-1])
        axes.add_collection(drawn)
        figure = axes.get_figure()
        if figure is not None:
            bar = figure.colorbar(drawn, ax=axes, fraction=0.025, pad=0.055, aspect=30)
            bar.set_label("round" if by == "round" else "first chunk of the message")
            bar.locator = MaxNLocator(integer=True)
    if found.begin.size <= _LABELS:
        room = (WIDTH - 1.9) * (found.end - found.begin) / timeline.makespan
        size = np.minimum(8.5, 72 * lane * height * 0.75)
        for i, text in enumerate(found.peer):
            if size[i] >= 5.0 and room[i] > _LETTER * size[i] / 8.5 * (len(text) + 0.6):
                axes.text(
                    (found.begin[i] + found.end[i]) / 2, middle[i], text, ha="center",
                    va="center", fontsize=float(size[i]), zorder=5,
                    bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 0.6},
                )  # fmt: skip
    return handles


def _entered(found: Bars, cluster: Cluster) -> Iterator[tuple[int, float]]:
    """Yield the lanes of all ranks, and when the rank of each enters."""
    each = 2 if found.names[0].endswith(" out") else 1
    delay = np.zeros(cluster.ranks) if cluster.delay is None else cluster.delay
    for lane in range(cluster.ranks * each):
        yield lane, float(delay[lane // each])


def draw_launch(axes: "Axes", found: Bars | Cells, cluster: Cluster) -> "list[Patch]":
    """Draw the launch of every rank, when it has entered; return what a legend needs."""
    from matplotlib.patches import Patch

    style: dict[str, Any] = {"color": "#BBBBBB", "lw": 0, "zorder": 1}
    if isinstance(found, Cells):
        axes.axvspan(0.0, cluster.launch, **style)
    else:
        for lane, late in _entered(found, cluster):
            axes.barh(lane, cluster.launch, left=late, height=_FILL, **style)
    return [Patch(label="launch", color="#BBBBBB")]


def draw_late(axes: "Axes", found: Bars, cluster: Cluster) -> None:
    """Mark the time before a late rank enters."""
    for lane, late in _entered(found, cluster):
        if late > 0:
            axes.barh(
                lane, late, height=0.25, color="#FFFFFF", edgecolor="#555555", hatch="xxxx",
                lw=0.5, zorder=1,
            )  # fmt: skip
            axes.annotate(
                "late", (late, lane), xytext=(-4, 0), textcoords="offset points", fontsize=8,
                ha="right", va="center", zorder=2,
                bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 0.6},
            )  # fmt: skip


def draw_path(axes: "Axes", found: Bars | Cells, timeline: Timeline) -> None:
    """Draw the critical path: outlines of its messages, and lines from each to the next."""
    from matplotlib.collections import PolyCollection

    steps = timeline.critical_path
    if isinstance(found, Cells):
        sender = timeline.schedule.src
        points = [
            (time, float(found.group[sender[step.operation]]))
            for step in steps
            for time in (step.start, step.finish)
        ]
        for color, width in (("#FFFFFF", 3.2), (PATH, 1.4)):
            axes.plot(
                [t for t, _ in points], [y for _, y in points], color=color, lw=width, zorder=4
            )
        return
    corners, middle, _ = _boxes(found)
    first: dict[int, int] = {}
    for i, operation in enumerate(found.operation.tolist()):
        first.setdefault(operation, i)
    shown = [first[step.operation] for step in steps if step.operation in first]
    axes.add_collection(
        PolyCollection(
            corners[shown], facecolors="none", edgecolors=PATH, linewidths=1.8, zorder=4
        )
    )
    for one, other in pairwise(shown):
        axes.plot(
            [found.end[one], found.begin[other]], [middle[one], middle[other]], color=PATH,
            lw=1.1, zorder=3,
        )  # fmt: skip
