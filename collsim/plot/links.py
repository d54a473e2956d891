"""How busy every link and port is over a run: a heat map."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.plot.heading import counted, head
from collsim.plot.link_use import LinkMap, link_map
from collsim.plot.style import (
    check_path,
    drawn,
    linear_time_axis,
    shades,
    spaced,
    time_label,
)
from collsim.units import format_bandwidth, format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LinkMap", "link_map", "plot_links"]

_WIDTH, _ROW = 10.0, 0.24


@checked
def plot_links(
    timeline: Timeline,
    cluster: Cluster,
    path: str | os.PathLike[str] | None = None,
    *,
    algorithm: str | None = None,
    most: int = 40,
) -> "Figure":
    """Draw how busy every link and port is over a run, that of the most use on top.

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
    most : int
        Rows at most.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which a notebook shows.

    Raises
    ------
    InputError
        For another ending, or where nothing is carried.
    FileError
        If the file can't be written.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> cluster = Cluster.ideal(4, "1us", "1GB/s")
    >>> figure = plot_links(simulate(build("broadcast", "mst", 4), cluster, 1000), cluster)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['egress[0]', 'egress[2]', 'ingress[1] and 1 alike', 'ingress[2]']
    """
    if path is not None:
        check_path(path)
    found = link_map(timeline, cluster, most=most)
    return drawn(lambda: _draw(found, timeline, cluster, algorithm), path)


def _draw(
    found: LinkMap, timeline: Timeline, cluster: Cluster, algorithm: str | None
) -> "Figure":
    from collsim.plot.picture import Picture

    rows = len(found.names)
    figure = Picture(figsize=(_WIDTH, 1.9 + max(_ROW * rows, 0.7)), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(
        found.share, aspect="auto", cmap=shades(), vmin=0.0, vmax=1.0, interpolation="nearest",
        extent=(0.0, float(found.edges[-1]), rows - 0.5, -0.5), zorder=1,
    )  # fmt: skip
    linear_time_axis(axes, timeline.makespan)
    labels = [
        name + (f" and {len(members) - 1} alike" if len(members) > 1 else "")
        for name, members in zip(found.names, found.members, strict=True)
    ]
    axes.set_yticks(range(rows), labels, fontsize=9)
    axes.tick_params(axis="y", length=0)
    for y in range(1, rows):
        axes.axhline(y - 0.5, color="#FFFFFF", lw=0.8, zorder=2)
    _numbers(axes, found)
    bar = figure.colorbar(
        image, ax=axes, orientation="horizontal", fraction=0.05, pad=0.02, shrink=0.5, aspect=40
    )
    bar.set_label("use of the bandwidth, mean of each moment")
    bar.ax.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    name = timeline.schedule.collective.name
    size = spaced(format_size(timeline.nbytes, 4))
    title = f"{name} of {size} on {counted(cluster.ranks, 'rank')} of {cluster.name}"
    head(
        axes, title + (f": {algorithm}, " if algorithm else ": ") + "use of links",
        _words(found, timeline), 4.2,
    )  # fmt: skip
    return figure


def _words(found: LinkMap, timeline: Timeline) -> str:
    words = [time_label(float(f"{timeline.makespan:.4g}"))]
    if found.left_out:
        words.append(f"{found.left_out} more, of less use, are not drawn")
    if found.idle:
        words.append(f"{found.idle} carry nothing")
    return ", ".join(words)


def _numbers(axes: "Axes", found: LinkMap) -> None:
    """Write, on the right, what each can carry, what it does, and how much of it that is."""
    columns = ("bandwidth", "carries", "use")
    cells = [
        (
            spaced(format_bandwidth(float(f"{rate:.3g}"), 3)),
            spaced(format_size(float(f"{nbytes:.4g}"), 3)),
            f"{use:.0%}" if use >= 0.1 else f"{use:.1%}",
        )
        for rate, nbytes, use in zip(found.capacity, found.nbytes, found.use, strict=True)
    ]
    for points, i in zip((62, 122, 160), range(3), strict=True):
        lines: Sequence[tuple[float, str]] = [(-0.5, columns[i])]
        lines = [*lines, *((float(y), cell[i]) for y, cell in enumerate(cells))]
        for y, text in lines:
            axes.annotate(
                text, (1.0, y), xytext=(points, 3 if y < 0 else 0),
                xycoords=("axes fraction", "data"), textcoords="offset points", ha="right",
                va="bottom" if y < 0 else "center", fontsize=8.5, annotation_clip=False,
                color="#333333" if y < 0 else "#000000",
            )  # fmt: skip
