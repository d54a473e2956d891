"""A cluster as a picture: GPUs, switches, NICs, and the links between them by class."""

import os
from typing import TYPE_CHECKING, Any, Final

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.plot.cables import draw_cables, legend_rows
from collsim.plot.places import BOX, Places, Spot, place
from collsim.plot.style import check_path, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_cluster"]

_GREY: Final = "#333333"
_LINE: Final = 0.26  # height of a line of the legend


@checked
def plot_cluster(cluster: Cluster, path: str | os.PathLike[str] | None = None) -> "Figure":
    """Draw a cluster.

    Parameters
    ----------
    cluster : Cluster
        Of more than a few nodes the first and the last are drawn, and of more than a few
        GPUs of a node the first.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.

    Returns
    -------
    matplotlib.figure.Figure
        For a notebook, or for further changes.

    Raises
    ------
    InputError
        For another ending.
    FileError
        If the file can't be written.

    Examples
    --------
    >>> figure = plot_cluster(Cluster.load("dgx-h100"))
    >>> [text.get_text() for text in figure.axes[0].texts][:2]
    ['GPU 0', 'GPU 1']
    """
    if path is not None:
        check_path(path)
    return drawn(lambda: _draw(cluster, place(cluster)), path)


def _draw(cluster: Cluster, places: Places) -> "Figure":
    from matplotlib.figure import Figure

    rows = legend_rows(cluster, places)
    title = f"{cluster.name}: {cluster.ranks} GPU{'s' * (cluster.ranks != 1)}"
    left, low, right, high = places.extent
    # Letters are about so wide; a picture has room for its longest line.
    words = [0.11 * len(title), 0.078 * len(cluster.shape)]
    right = max(
        right, *(left + w for w in words), *(left + 0.85 + 0.076 * len(t) for _, t in rows)
    )
    top, bottom = high + 0.68, low - 0.32 - _LINE * len(rows)
    size = (right - left + 0.3, top - bottom + 0.1)
    figure = Figure(figsize=size)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(left - 0.15, left - 0.15 + size[0])
    axes.set_ylim(bottom - 0.05, bottom - 0.05 + size[1])
    axes.set_axis_off()
    for spot in places.spots.values():
        _box(axes, spot)
    _frames(axes, places)
    draw_cables(axes, cluster, places)
    for x, y, text in places.notes:
        axes.text(x, y, text, ha="left", va="center", fontsize=9, color=_GREY)
    axes.text(left, top - 0.08, title, fontsize=12, va="top")
    axes.text(left, top - 0.34, cluster.shape, fontsize=9, va="top", color=_GREY)
    for i, (style, text) in enumerate(rows):
        y = low - 0.4 - _LINE * i
        axes.plot([left, left + 0.7], [y, y], **style)
        axes.text(left + 0.82, y, text, ha="left", va="center", fontsize=9)
    return figure


def _box(axes: "Axes", spot: Spot) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape: dict[str, Any] = {"boxstyle": "square,pad=0", "facecolor": "#FFFFFF"}
    if not spot.gpu:
        shape = {"boxstyle": "round,pad=0,rounding_size=0.12", "facecolor": "#E4E4E4"}
    axes.add_patch(
        FancyBboxPatch(
            (spot.x - spot.width / 2, spot.y - BOX / 2), spot.width, BOX,
            edgecolor="#000000", linewidth=0.9, zorder=4, **shape,
        )
    )  # fmt: skip
    size = 8.5 if len(spot.text) <= 6 or not spot.gpu else 7.0
    axes.text(spot.x, spot.y, spot.text, ha="center", va="center", fontsize=size, zorder=5)


def _frames(axes: "Axes", places: Places) -> None:
    from matplotlib.patches import Rectangle

    for left, bottom, right, top, title in places.frames:
        axes.add_patch(
            Rectangle(
                (left, bottom), right - left, top - bottom, facecolor="#F7F7F7",
                edgecolor="#999999", linewidth=0.8, zorder=0,
            )
        )  # fmt: skip
        axes.text(left + 0.08, top - 0.07, title, ha="left", va="top", fontsize=9, zorder=5)
