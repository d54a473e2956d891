"""Time against size of two algorithms, with every size at which they swap."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from collsim.choose.crossover import Crossover, crossover, rivals
from collsim.choose.curve import Counts, Curve, Model
from collsim.choose.fitted import FittedCurve, FittedTimes
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.engine.bound import lower_bound
from collsim.errors import InputError
from collsim.plot.bands import shade
from collsim.plot.ends import name_ends
from collsim.plot.heading import counted, described, head
from collsim.plot.marks import mark_swaps
from collsim.plot.style import (
    STYLES,
    check_path,
    save,
    size_axis,
    styled,
    time_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_crossover"]

_Floats = NDArray[np.float64]

_POINTS: Final = 241
# What is shown unless the user says otherwise, if no swap lies outside: nccl-tests' range.
_VIEW: Final = (8.0, 2.0**33)
# Letters of a name for which there is room beside curves and marks.
_LONG: Final = 26
# Inches of a picture's width that a letter beside the axes takes.
_LETTER: Final = 0.08


@checked
def plot_crossover(
    collective_name: str,
    a: str,
    b: str,
    cluster: Cluster,
    path: str | os.PathLike[str] | None = None,
    *,
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    model: Model = "auto",
    min_bytes: float | str | None = None,
    max_bytes: float | str | None = None,
    fold: bool = True,
    fitted: FittedTimes | None = None,
) -> "Figure":
    """Draw the times of two algorithms against size, and mark where they swap.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    a, b : str
        Two algorithms of it.
    cluster : Cluster
        Where they run.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.
    root, chunks, channels, model, fold, fitted
        As in :func:`collsim.crossover`.
    min_bytes, max_bytes : float or str, optional
        Range of sizes, in bytes or as text such as ``"64MiB"``; by default 8 bytes to 8 GiB,
        or more so that all swaps are seen.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which a notebook shows.

    Raises
    ------
    InputError
        For another ending, an empty range, one algorithm twice, or one that does not apply.
    FileError
        If the file can't be written.

    Examples
    --------
    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> figure = plot_crossover("all_reduce", "mst", "ring", cluster)
    >>> figure.axes[0].get_xlabel()
    'size n (bytes, binary steps)'
    """
    if path is not None:
        check_path(path)
    kind = collective(collective_name)
    found = crossover(
        kind.name, a, b, cluster, root=root, chunks=chunks, channels=channels, model=model,
        min_bytes=min_bytes or 1.0, max_bytes=max_bytes or 2.0**40, fold=fold, fitted=fitted,
    )  # fmt: skip
    low, high = _view(
        found, found.min_bytes if min_bytes else None, found.max_bytes if max_bytes else None
    )
    if found.a == found.b:
        raise InputError(f"plot: both algorithms are {found.a}, expected two that differ")
    pair = rivals(
        kind, (found.a, found.b), cluster, root=root, chunks=chunks, channels=channels,
        model=model, fold=fold, fitted=fitted,
    )  # fmt: skip
    sizes = np.geomspace(low, high, _POINTS)
    bound = np.array([lower_bound(kind, cluster, n) for n in sizes])
    with styled():
        figure = _draw(found, pair, sizes, bound)
    if path is not None:
        save(figure, path)
    return figure


def _view(
    found: Crossover, min_bytes: float | None, max_bytes: float | None
) -> tuple[float, float]:
    swaps = [swap.size for swap in found.rows]
    low = min([_VIEW[0], *(size / 16 for size in swaps)])
    high = max([_VIEW[1], *(size * 16 for size in swaps)])
    # A size of 0 has no place on a logarithmic axis.
    return max(1.0, min_bytes or low), max_bytes or high


def _draw(
    found: Crossover, pair: Sequence[Curve | FittedCurve], sizes: _Floats, bound: _Floats
) -> "Figure":
    from collsim.plot.picture import Picture

    times = [np.array([curve.seconds(n) for n in sizes]) for curve in pair]
    if min(t.min() for t in times) <= 0:
        raise InputError(
            f"plot: {found.collective} on {found.ranks} ranks of {found.cluster} takes no "
            "time, so there is nothing to draw on a logarithmic axis"
        )
    names = _names(found)
    longest = max(map(len, names.values()))
    # What a letter stands for is said once, below.
    labels = {name: name if word == name else f"{word}: {name}" for name, word in names.items()}
    figure = Picture(figsize=(8.0 + _LETTER * longest, 5.5), layout="constrained")
    axes = figure.add_subplot()
    size_axis(axes, float(sizes[0]), float(sizes[-1]))
    time_axis(axes)
    for i, (curve, seconds) in enumerate(zip(pair, times, strict=True)):
        # Marks of the two lines lie between each other, not on each other.
        axes.plot(
            sizes, seconds, label=labels[curve.name], linewidth=2.0, markersize=5.5,
            markevery=(12 * i + 6, 24), zorder=3, **STYLES[i],
        )  # fmt: skip
    if bound.min() > 0:
        axes.plot(
            sizes, bound, label="lower bound: no algorithm is faster", linewidth=1.2,
            color="#444444", linestyle=(0, (1, 1.5)), zorder=2,
        )  # fmt: skip
    _limits(axes, [*times, bound])
    bands = shade(axes, pair, sizes, names)
    mark_swaps(axes, found, names)
    axes.grid(True, which="major", color="#BFC5CC", linewidth=0.5, zorder=1)
    axes.set_axisbelow(True)
    ends = [(float(t[-1]), names[curve.name]) for t, curve in zip(times, pair, strict=True)]
    name_ends(
        axes,
        [
            (float(sizes[-1]), y, name, str(STYLES[i]["color"]))
            for i, (y, name) in enumerate(ends)
        ],
    )
    times_are = ", fitted times" if found.fitted else ""
    title = f"{found.collective} on {counted(found.ranks, 'rank')} of {found.cluster}"
    head(
        axes,
        f"{title}: {names[found.a]} and {names[found.b]}",
        described(pair[0].cluster) + times_are,
        1.0 + _LETTER * longest,
    )
    # Outside, because inside there is no corner that stays free for all pairs.
    lines = axes.get_legend_handles_labels()[0]
    figure.legend(
        handles=[*lines, *bands], loc="outside lower center", ncols=2, frameon=False,
        handlelength=3.5, fontsize=9.5 if names[found.a] == found.a else 8.5,
    )  # fmt: skip
    return figure


def _names(found: Crossover) -> dict[str, str]:
    """Return what algorithms are called in the picture: letters, where a name is too long."""
    names = (found.a, found.b)
    if max(map(len, names)) <= _LONG:
        return dict(zip(names, names, strict=True))
    return dict(zip(names, "AB", strict=False))


def _limits(axes: "Axes", times: Sequence[_Floats]) -> None:
    """Leave room above the curves for the names of the regimes and of the swaps."""
    low = min(float(t[t > 0].min()) for t in times if (t > 0).any())
    high = max(float(t.max()) for t in times)
    span = np.log10(high / low)
    axes.set_ylim(low / 10 ** max(0.15, 0.06 * span), high * 10 ** max(0.3, 0.12 * span))
