"""Two algorithms as they were measured, and as messages between pairs alone predict them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from collsim.calibrate.point_to_point.against import compare
from collsim.calibrate.point_to_point.fit import PointToPoint
from collsim.calibrate.point_to_point.nodes import of_rows
from collsim.calibrate.point_to_point.nodes_cluster import cluster_of
from collsim.calibrate.usable import usable
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.measurements_format import MeasuredRow
from collsim.errors import InputError
from collsim.plot.style import (
    STYLES,
    check_path,
    save,
    size_axis,
    spaced,
    styled,
    time_axis,
    time_label,
)
from collsim.units import format_bandwidth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_measured"]

_POINTS = 81


@checked
def plot_measured(
    collective_name: str,
    a: str,
    b: str,
    rows: Iterable[MeasuredRow],
    path: str | os.PathLike[str] | None = None,
) -> "Figure":
    """Draw measured times of two algorithms with their quartiles, and predicted curves.

    Predictions use ping-pong and simultaneous messages from the same rows, and nothing
    that was measured of the algorithms.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    a, b : str
        Two algorithms of it, measured as our own schedules.
    rows : iterable of mapping
        As :func:`collsim.core.measurements_file.read_rows` returns them.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which a notebook shows.

    Raises
    ------
    InputError
        If the rows lack one of the algorithms or the ping-pong, or are of several rank
        counts, element types, reductions, roots or chunks.

    Examples
    --------
    >>> plot_measured("all_reduce", "mst", "ring", [])
    Traceback (most recent call last):
    collsim.errors.InputError: ...
    """
    if path is not None:
        check_path(path)
    name = collective(collective_name).name
    every, _ = usable(rows)
    own = [row for row in every if row.get("runs") == "schedule" and row["collective"] == name]
    pair = [_of(own, name, algorithm) for algorithm in (a, b)]
    both = [*pair[0], *pair[1]]
    _check_alike(both)
    found, nodes = of_rows(every)
    cluster = cluster_of(found, nodes, int(both[0]["ranks"]), "measured")
    said = _subtitle(nodes.between if nodes is not None else found)
    if nodes is not None:
        said = said.replace("messages alone", "messages alone, between nodes", 1)
    with styled():
        figure = _draw(name, (a, b), pair, cluster, said)
    if path is not None:
        save(figure, path)
    return figure


def _check_alike(rows: Sequence[MeasuredRow]) -> None:
    """Refuse rows that one curve would join although they are of different things."""
    for key, what, one in (
        ("ranks", "ranks", "rank count"),
        ("dtype", "element type", "element type"),
        ("op", "reduction", "reduction"),
        ("root", "root", "root"),
        ("chunks", "chunks", "number of chunks"),
    ):
        told = {row.get(key) for row in rows} - {None}
        found = sorted(map(str, told), key=_number)
        if len(found) > 1:
            said = ", ".join(found)
            rows_of = f"{said} ranks" if key == "ranks" else f"{what} {said}"
            raise InputError(f"rows of {rows_of}, expected a file of one {one}")


def _number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else 0, text)


def _of(rows: Sequence[MeasuredRow], name: str, algorithm: str) -> list[MeasuredRow]:
    found = [row for row in rows if row["algorithm"] == algorithm]
    if not found:
        known = ", ".join(sorted({str(row["algorithm"]) for row in rows})) or "none"
        raise InputError(
            f"no measured row of {name}/{algorithm}, expected some from `calibrate measure "
            f"{name} --algorithm {algorithm}` (measured: {known})"
        )
    return sorted(found, key=lambda row: int(row["size"]))


def _draw(
    name: str,
    names: Sequence[str],
    pair: Sequence[list[MeasuredRow]],
    cluster: Cluster,
    said: str,
) -> "Figure":
    from collsim.plot.picture import Picture

    low = min(float(rows[0]["size"]) for rows in pair)
    high = max(float(rows[-1]["size"]) for rows in pair)
    figure = Picture(figsize=(8.0, 5.5), layout="constrained")
    axes = figure.add_subplot()
    size_axis(axes, low / 1.5, high * 1.5)
    time_axis(axes)
    sizes = np.geomspace(low, high, _POINTS)
    styles: Sequence[Mapping[str, Any]] = STYLES
    for style, algorithm, rows in zip(styles, names, pair, strict=False):
        curve = compare([{**rows[0], "size": n, "seconds": 1.0} for n in sizes], cluster)
        axes.plot(
            sizes, [point.predicted for point in curve], color=style["color"],
            linestyle=style["linestyle"], linewidth=1.8, zorder=2,
            label=f"{algorithm}, predicted",
        )  # fmt: skip
        seconds = np.array([row["seconds"] for row in rows])
        spread = np.array(
            [
                [t - row.get("low", t), row.get("high", t) - t]
                for row, t in zip(rows, seconds, strict=True)
            ]
        )
        axes.errorbar(
            [row["size"] for row in rows], seconds, yerr=np.maximum(spread.T, 0.0),
            color=style["color"], marker=style["marker"], markersize=6, linestyle="",
            capsize=3, elinewidth=1.2, zorder=3, label=f"{algorithm}, measured",
        )  # fmt: skip
    # Whole decades, so that both ends of the axis have a name.
    bottom, top = axes.get_ylim()
    axes.set_ylim(10 ** np.floor(np.log10(bottom)), 10 ** np.ceil(np.log10(top)))
    axes.grid(True, which="major", color="#BFC5CC", linewidth=0.5, zorder=1)
    axes.set_axisbelow(True)
    first = pair[0][0]
    library = str(first.get("library") or "").removeprefix("collsim's schedules on ")
    axes.set_title(f"{name} on {cluster.ranks} ranks of {library}", loc="left", pad=22)
    axes.text(0.0, 1.015, said, transform=axes.transAxes, fontsize=9.5, color="#333333")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, handlelength=3.5)
    return figure


def _subtitle(found: PointToPoint) -> str:
    rate = spaced(format_bandwidth(float(f"{1 / found.beta.value:.3g}")))
    parts = [f"predicted from messages alone: α {_short(found.alpha.value)}, 1/β {rate}"]
    if found.launch.value:
        parts.append(f"launch {_short(found.launch.value)}")
    if found.shares:
        which = "several" if found.lanes == 1 else f"more than {found.lanes}"
        parts.append(f"{which} at once wait")
    return ", ".join(parts)


def _short(seconds: float) -> str:
    return time_label(float(f"{seconds:.3g}"))
