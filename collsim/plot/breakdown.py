"""Where the time of every algorithm goes: start-ups, bytes, reductions, launch, waiting."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from collsim.choose.curve import Counts, Model
from collsim.choose.predict import FittedTimes, Row, predict
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.plot.heading import counted, described, head
from collsim.plot.style import (
    check_path,
    drawn,
    linear_time_axis,
    spaced,
    time_label,
)
from collsim.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PARTS", "Breakdowns", "plot_breakdown", "time_breakdown"]

PARTS: Final = ("launch", "alpha", "beta", "gamma", "waiting")
_NAMES: Final = {
    "launch": "launch, paid once",
    "alpha": "α, start-ups",
    "beta": "β, bytes",
    "gamma": "γ, reductions",
    "waiting": "waiting for others",
}
# Darker and lighter in turn, so that neighbours part in grey; hatches do the rest.
_FILLS: Final[dict[str, dict[str, Any]]] = {
    "launch": {"facecolor": "#555555", "hatch": ""},
    "alpha": {"facecolor": "#56B4E9", "hatch": ""},
    "beta": {"facecolor": "#F8E3B0", "hatch": "////"},
    "gamma": {"facecolor": "#009E73", "hatch": "...."},
    "waiting": {"facecolor": "#FFFFFF", "hatch": "xxxx"},
}
_WIDTH, _ROW = 9.0, 0.42
# Inches of the axes at least: names that are longer make the picture wider.
_AXES: Final = 6.0
# Inches that a letter takes of a name, of a share and of what stands beside a bar.
_NAME, _SHARE, _BESIDE = 0.078, 0.068, 0.068
_FAR: Final = 20.0  # times the fastest: what is slower would leave no bar to see of that


@dataclass(frozen=True, eq=False)
class Breakdowns:
    """What :func:`plot_breakdown` draws.

    Parameters
    ----------
    collective, cluster, network : str
        What runs where.
    ranks : int
        Rank count P.
    size : float
        Bytes, n.
    rows : tuple of Row
        Predictions, the fastest first.
    left_out : dict of str
        Algorithms that are not among the rows, each with its reason.
    """

    collective: str
    cluster: str
    network: str
    ranks: int
    size: float
    rows: tuple[Row, ...]
    left_out: dict[str, str]

    def parts(self, row: int) -> dict[str, float]:
        """Return the microseconds of each part of a row, those of 0 left out."""
        one = self.rows[row]
        return {part: us for part in PARTS if (us := float(getattr(one, f"{part}_us"))) > 0}


@checked
def time_breakdown(
    collective_name: str,
    cluster: Cluster,
    size: float | str,
    algorithms: Sequence[str] = ("all",),
    *,
    most: int = 12,
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    model: Model = "auto",
    fitted: FittedTimes | None = None,
) -> Breakdowns:
    """Predict algorithms at one size, with the parts of their times.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    cluster : Cluster
        Where it runs.
    size : float or str
        Bytes, or text such as ``"64MiB"``.
    algorithms : sequence of str
        Names, options included; by default all.
    most : int
        Of all, only so many: the fastest, and none 20 times as slow as the first.
    root, chunks, channels, model, fitted
        As in :func:`collsim.predict`.

    Returns
    -------
    Breakdowns
        A row for each algorithm, the fastest first, with the parts of its time.

    Raises
    ------
    InputError
        If none applies.

    Examples
    --------
    >>> found = time_breakdown("all_reduce", Cluster.ideal(8, "10us", "900GB/s"), 2**20)
    >>> found.rows[0].algorithm, [round(us, 3) for us in found.parts(0).values()]
    ('recursive_doubling', [30.0, 3.495])
    """
    if most < 1:
        raise InputError(f"plot: got {most} algorithms at most, expected 1 or more")
    rows: dict[tuple[str, str | None], Row] = {}
    why: dict[str, str] = {}
    for asked in algorithms:
        try:
            answer = predict(
                collective_name, cluster, size, asked, root=root, chunks=chunks,
                channels=channels, model=model, fitted=fitted,
            )  # fmt: skip
        except InputError as error:
            if len(algorithms) == 1:
                raise
            why[asked] = str(error)
            continue
        why |= answer.left_out
        rows |= {(row.algorithm, row.protocol): row for row in answer.rows}
    if not rows:
        raise InputError("; ".join(why.values()) or "algorithms: none given, expected one")
    ranked = sorted(rows.values(), key=lambda row: row.time_us)
    best = ranked[0].time_us
    kept = tuple(ranked)
    if "all" in algorithms:
        kept = tuple(row for row in ranked[:most] if row.time_us <= _FAR * best)
    for row in ranked[len(kept) :]:
        times = f"{row.time_us / best:.3g} times as long as" if best else "slower than"
        why[row.algorithm] = f"{times} {ranked[0].algorithm}"
    return Breakdowns(
        answer.collective, cluster.name, described(cluster), cluster.ranks, kept[0].size, kept,
        why,
    )  # fmt: skip


@checked
def plot_breakdown(found: Breakdowns, path: str | os.PathLike[str] | None = None) -> "Figure":
    """Draw what the time of every algorithm goes into, the fastest on top.

    Parameters
    ----------
    found : Breakdowns
        From :func:`time_breakdown`.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.

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
    >>> found = time_breakdown("all_reduce", Cluster.ideal(8, "10us", "900GB/s"), 2**20)
    >>> plot_breakdown(found).axes[0].get_xlabel()
    'time (µs)'
    """
    if path is not None:
        check_path(path)
    return drawn(lambda: _draw(found), path)


def _draw(found: Breakdowns) -> "Figure":
    from matplotlib.patches import Patch

    from collsim.plot.picture import Picture

    if max(row.time_us for row in found.rows) <= 0:
        raise InputError(
            f"plot: {found.collective} on {found.cluster} takes no time, so there is nothing "
            "to draw"
        )
    margin = 0.3 + _NAME * max(len(_name(row)) for row in found.rows)
    wide = max(_AXES, _WIDTH - margin)
    span = max(
        row.time_us * 1e-6 / (1 - _BESIDE * (len(_beside(row)) + 2) / wide)
        for row in found.rows
    )
    figure = Picture(
        figsize=(margin + wide, 1.9 + _ROW * len(found.rows)), layout="constrained"
    )
    axes = figure.add_subplot()
    linear_time_axis(axes, span)
    axes.set_ylim(len(found.rows) - 0.4, -0.6)
    axes.set_yticks(range(len(found.rows)), [_name(row) for row in found.rows])
    axes.tick_params(axis="y", length=0)
    letter = _SHARE * span / wide
    for y, row in enumerate(found.rows):
        _bar(axes, y, found.parts(y), letter)
        axes.annotate(
            _beside(row), (row.time_us * 1e-6, y), xytext=(5, 0), textcoords="offset points",
            va="center", fontsize=9,
        )  # fmt: skip
    bound = found.rows[0].lower_bound_us * 1e-6
    handles: list[Any] = [
        Patch(label=_NAMES[part], edgecolor="#333333", linewidth=0.5, **_FILLS[part])
        for part in PARTS
        if any(part in found.parts(y) for y in range(len(found.rows)))
    ]
    if bound > 0:
        handles += axes.plot(
            [bound, bound], axes.get_ylim(), color="#000000", lw=1.6, linestyle=(0, (2, 1.5)),
            zorder=4, label=f"lower bound, {time_label(bound)}",
        )  # fmt: skip
    axes.grid(True, axis="x", color="#DDE1E5", linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    size = spaced(format_size(found.size, 4))
    title = f"{found.collective} of {size} on {counted(found.ranks, 'rank')} of {found.cluster}"
    head(axes, f"{title}: where the time goes", found.network, margin)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=3, frameon=False, handlelength=2.4
    )
    return figure


def _name(row: Row) -> str:
    return row.algorithm if row.protocol is None else f"{row.algorithm} {row.protocol}"


def _beside(row: Row) -> str:
    time = time_label(float(f"{row.time_us:.4g}") * 1e-6)
    if row.efficiency is None:
        return time
    share = 100 * row.efficiency
    return (
        f"{time}, efficiency {share:.0f}%" if share >= 1 else f"{time}, efficiency {share:.1g}%"
    )


def _bar(axes: "Axes", y: int, parts: dict[str, float], letter: float) -> None:
    for part, start, seconds in _stacked(parts):
        axes.barh(
            y, seconds, left=start, height=0.72, edgecolor="#333333", linewidth=0.5, zorder=2,
            **_FILLS[part],
        )  # fmt: skip
        text = f"{seconds * 1e6 / sum(parts.values()):.0%}"
        if letter * (len(text) + 2) < seconds:
            axes.text(
                start + seconds / 2, y, text, ha="center", va="center", fontsize=8.5, zorder=5,
                bbox={"boxstyle": "round,pad=0.1", "facecolor": "#FFFFFF", "edgecolor": "none"},
            )  # fmt: skip


def _stacked(parts: dict[str, float]) -> Iterator[tuple[str, float, float]]:
    start = 0.0
    for part, us in parts.items():
        yield part, start, us * 1e-6
        start += us * 1e-6
