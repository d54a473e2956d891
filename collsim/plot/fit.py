"""Measured and fitted times against size, what is left over, and which piece ran."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.fit import FitResult
from collsim.calibrate.nccl_model.batch import case_of
from collsim.core.arguments import checked
from collsim.core.measurements import Measurement
from collsim.plot.style import STYLES, check_path, drawn, size_axis, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["plot_fit"]

_PIECES: Final = {
    "ring ll": "o",
    "ring ll128": "^",
    "ring simple": "s",
    "tree ll": "v",
    "tree ll128": "<",
    "tree simple": ">",
    "nvls simple": "D",
    "nvls_tree simple": "P",
    "pat simple": "h",
    "send and receive": "X",
    "line": "o",
}
_HOLLOW: Final = {"markerfacecolor": "white", "markeredgewidth": 1.2, "markersize": 5.5}
_COLUMNS: Final = 3
_HINTED: Final = 1.1  # letters on a grid of pixels are wider than their outlines
_MARGIN: Final = 0.2  # inches that the title leaves free
_HANDLE: Final = 0.75  # inches of a mark and of what is left free beside its name
_WIDTH, _HEIGHT = 4.6, 4.6
_LEAST_SPAN: Final = 0.1
_MOST_SPAN: Final = 1.0


@dataclass(frozen=True)
class _Series:
    """Rows of one collective on so many ranks and nodes, by size."""

    collective: str
    ranks: int
    nodes: int | None
    rows: tuple[Measurement, ...]
    predicted: NDArray[np.float64]
    pieces: tuple[str, ...]
    named: frozenset[str]
    """Pieces that rows themselves say ran."""

    @property
    def label(self) -> str:
        on = f" on {self.nodes} nodes" if self.nodes and self.nodes > 1 else ""
        return f"{self.ranks} ranks{on}"

    @property
    def sizes(self) -> NDArray[np.float64]:
        return np.array([max(row.nbytes, 1) for row in self.rows], dtype=np.float64)

    @property
    def seconds(self) -> NDArray[np.float64]:
        return np.array([row.seconds for row in self.rows])


@checked
def plot_fit(found: FitResult, path: str | os.PathLike[str] | None = None) -> "Figure":
    """Draw measured and fitted times, and by how much they differ: measured / fitted - 1.

    Parameters
    ----------
    found : FitResult
        A fit.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which a notebook shows.

    Raises
    ------
    InputError
        For another ending.
    FileError
        If the file can't be written.

    Examples
    --------
    >>> from collsim.calibrate.fit import fit
    >>> figure = plot_fit(fit("examples/nccl_tests_all_reduce_8gpu.txt"))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['time', 'residual']
    """
    if path is not None:
        check_path(path)
    return drawn(lambda: _draw(found), path)


def _series(found: FitResult) -> list[_Series]:
    groups: dict[tuple[str, int, int | None], list[int]] = {}
    for i, row in enumerate(found.rows):
        groups.setdefault((row.collective, row.ranks, row.nodes), []).append(i)
    made = []
    for key in sorted(groups, key=lambda key: (key[0], key[2] or 0, key[1])):
        places = sorted(groups[key], key=lambda i: found.rows[i].nbytes)
        rows = tuple(found.rows[i] for i in places)
        predicted = np.array([found.predicted[i] for i in places])
        pieces = tuple(_piece(found, row) for row in rows)
        said = [row.algorithm is not None and row.protocol is not None for row in rows]
        named = {p for p, one in zip(pieces, said, strict=True) if one}
        taken = {p for p, one in zip(pieces, said, strict=True) if not one}
        made.append(_Series(*key, rows, predicted, pieces, frozenset(named - taken)))
    return made


def _piece(found: FitResult, row: Measurement) -> str:
    fitted = found.fitted
    if fitted is None:
        return "line"
    if row.collective == "all_to_all":
        return "send and receive"
    if row.algorithm is not None and row.protocol is not None:
        return f"{row.algorithm} {row.protocol}"
    nodes = fitted.system.nodes_of(row.ranks, row.nodes)
    where = row.collective, row.ranks, nodes, row.nbytes
    if row.algorithm is not None:
        theirs = case_of(row, fitted.system).algorithm or row.algorithm
        return f"{theirs} {fitted.named(*where, theirs)[0]}"
    return " ".join(fitted.choice(*where))


def _draw(found: FitResult) -> "Figure":
    from collsim.plot.picture import Picture

    series = _series(found)
    kinds = list(dict.fromkeys(one.collective for one in series))
    columns = 2 if len(kinds) == 4 else min(len(kinds), _COLUMNS)
    lines = -(-len(kinds) // columns)
    figure = Picture(
        figsize=(max(7.5, _WIDTH * columns), _HEIGHT * lines + 1.2), layout="constrained"
    )
    grid = figure.add_gridspec(2 * lines, columns, height_ratios=[2.6, 1.0] * lines)
    labels = list(dict.fromkeys(one.label for one in series))
    styles = {label: _line(i) for i, label in enumerate(labels)}
    for i, kind in enumerate(kinds):
        line, column = divmod(i, columns)
        above = figure.add_subplot(grid[2 * line, column])
        below = figure.add_subplot(grid[2 * line + 1, column], sharex=above)
        mine = [one for one in series if one.collective == kind]
        _panel(above, below, mine, styles)
        above.set_title(kind, loc="left", fontsize=11)
        if column:
            above.set_ylabel("")
            below.set_ylabel("")
    title = _title(found)
    size = min(12.0, 12.0 * (figure.get_figwidth() - _MARGIN) / _inches(title, 12.0))
    figure.suptitle(title, x=0.01, ha="left", fontsize=size)
    handles = _legend(series, styles)
    longest = max(_inches(str(one.get_label()), 9.5) for one in handles)
    figure.legend(
        handles=handles, loc="outside lower center", frameon=False, handlelength=2.5,
        ncols=max(1, int((figure.get_figwidth() - _MARGIN) / (longest + _HANDLE))),
    )  # fmt: skip
    return figure


def _inches(text: str, size: float) -> float:
    """Return the width of a line of text in points of a size."""
    from matplotlib.textpath import TextPath

    return _HINTED * float(TextPath((0.0, 0.0), text, size=size).get_extents().width) / 72.0


def _title(found: FitResult) -> str:
    profile, errors = found.profile, found.errors
    shown = errors.held_out or errors.in_sample
    how = f"held-out {shown.kind}" if errors.held_out else "fitted rows"
    where = profile.device or profile.cluster
    return (
        f"{where}: {how} off by {shown.median:.1%} in the median, "
        f"{shown.p90:.1%} at the 90th percentile"
    )


def _panel(
    above: "Axes", below: "Axes", series: Sequence[_Series], styles: dict[str, dict[str, Any]]
) -> None:
    sizes = np.concatenate([one.sizes for one in series])
    size_axis(above, float(sizes.min()) / 1.5, float(sizes.max()) * 1.5)
    time_axis(above)
    above.set_xlabel("")
    above.tick_params(axis="x", which="both", labelbottom=False)
    below.set_xlabel("size n (bytes, binary steps)")
    below.set_ylabel("residual")
    every = [one.seconds / one.predicted - 1 for one in series]
    most = float(np.abs(np.concatenate(every)).max())
    span = min(max(most * 1.1, _LEAST_SPAN), _MOST_SPAN)
    for one, residuals in zip(series, every, strict=True):
        # What lies beyond is put on the edge, hollow.
        off, beyond = np.clip(residuals, -span, span), np.abs(residuals) > span
        colour = styles[one.label]["color"]
        above.plot(one.sizes, one.predicted, linewidth=1.3, zorder=2, **styles[one.label])
        for piece in dict.fromkeys(one.pieces):
            where = np.array([p == piece for p in one.pieces])
            style: Any = {
                "marker": _PIECES.get(piece, "*"), "color": colour, "linestyle": "none",
                "markersize": 4.5, "clip_on": False,
                "markeredgecolor": "white", "markeredgewidth": 0.4,
            }  # fmt: skip
            above.plot(one.sizes[where], one.seconds[where], zorder=3, **style)
            inside, outside = where & ~beyond, where & beyond
            below.plot(one.sizes[inside], off[inside], zorder=3, **style)
            if outside.any():
                hollow = style | _HOLLOW | {"markeredgecolor": colour}
                below.plot(one.sizes[outside], off[outside], zorder=4, **hollow)
    _tell_beyond(below, np.concatenate(every), span)
    below.set_ylim(-span * 1.05, span * 1.05)
    below.axhline(0.0, color="#444444", linewidth=0.8, zorder=1)
    below.yaxis.set_major_formatter(lambda y, _: f"{y:+.0%}" if y else "0")
    for axes in (above, below):
        axes.grid(True, which="major", color="#DDE1E5", linewidth=0.5, zorder=0)
        axes.set_axisbelow(True)


def _line(number: int) -> dict[str, Any]:
    """Return colour and dashes of a fitted line; its marks tell pieces apart."""
    style = STYLES[number % len(STYLES)]
    return {"color": style["color"], "linestyle": style["linestyle"]}


def _tell_beyond(below: "Axes", residuals: NDArray[np.float64], span: float) -> None:
    """Say how many residuals lie beyond the axis, and how far."""
    beyond = residuals[np.abs(residuals) > span]
    if not beyond.size:
        return
    far = [f"{f(beyond):+.0%}" for f in (np.min, np.max) if abs(f(beyond)) > span]
    below.annotate(
        f"{beyond.size} beyond the axis (hollow): {' and '.join(dict.fromkeys(far))}",
        (1.0, 1.0), xytext=(0, 2), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="bottom", fontsize=8.5,
    )  # fmt: skip


def _legend(series: Sequence[_Series], styles: dict[str, dict[str, Any]]) -> "list[Line2D]":
    from matplotlib.lines import Line2D

    found = [
        Line2D([], [], linewidth=1.8, label=f"{label}, fitted", **style)
        for label, style in styles.items()
    ]
    for piece in dict.fromkeys(piece for one in series for piece in one.pieces):
        sure = piece == "send and receive" or all(
            piece in one.named for one in series if piece in one.pieces
        )
        what = f"{'' if sure else 'taken for '}{piece.replace('_', ' ')}"
        name = "measured" if piece == "line" else f"measured, {what}"
        found.append(
            Line2D([], [], color="#444444", linestyle="none", marker=_PIECES.get(piece, "*"),
                   markersize=5, label=name)
        )  # fmt: skip
    return found
