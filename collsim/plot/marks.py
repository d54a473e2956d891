"""Marks and labels of the sizes at which two algorithms swap."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from collsim.choose.crossover import Crossover, Swap
from collsim.plot.style import spaced, time_label
from collsim.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mark_swaps"]

# Swaps in the list of a picture with many.
_LISTED: Final = 6
_BOX: Final = {"boxstyle": "round,pad=0.25", "facecolor": "#FFFFFF", "edgecolor": "#888888"}


def mark_swaps(axes: "Axes", found: Crossover, names: Mapping[str, str]) -> None:
    """Mark every swap, with its label beside it or, where that has no room, in a list.

    Parameters
    ----------
    axes : Axes
        Of sizes and times.
    found : Crossover
        The swaps.
    names : mapping of str to str
        What to call the algorithms.
    """
    low, high = axes.get_xlim()
    for number, swap in enumerate(found.rows, 1):
        seconds = swap.time_us * 1e-6
        down: dict[str, Any] = {"color": "#333333", "lw": 0.9, "linestyle": (0, (4, 3))}
        axes.plot([swap.size] * 2, [axes.get_ylim()[0], seconds], zorder=2, **down)
        if swap.jump is not None:
            jump = swap.jump
            ends = [jump.a_below_us, jump.a_above_us, jump.b_below_us, jump.b_above_us]
            across = [min(ends) * 1e-6, max(ends) * 1e-6]
            axes.plot([swap.size] * 2, across, color="#000000", lw=1.4, zorder=4)
        axes.plot(
            [swap.size], [seconds], marker="o", markersize=9, markerfacecolor="#FFFFFF",
            markeredgecolor="#000000", markeredgewidth=1.6, linestyle="", zorder=5,
        )  # fmt: skip
        if len(found.rows) == 1 and np.log(swap.size / low) > 0.42 * np.log(high / low):
            axes.annotate(
                _label(swap, names).replace(": ", "\n"), (swap.size, seconds), xytext=(-14, 26),
                textcoords="offset points", ha="right", va="bottom", fontsize=9.5, zorder=6,
                bbox=_BOX, arrowprops={"arrowstyle": "-", "color": "#333333", "shrinkB": 5},
            )  # fmt: skip
            return
        axes.annotate(
            str(number), (swap.size, seconds), xytext=(0, 8), textcoords="offset points",
            ha="center", va="bottom", fontsize=9.5, fontweight="bold", zorder=6,
        )  # fmt: skip
    if found.rows:
        lines = [
            f"{i}  {_label(swap, names)}" for i, swap in enumerate(found.rows[:_LISTED], 1)
        ]
        if len(found.rows) > _LISTED:
            lines.append(f"... and {len(found.rows) - _LISTED} more")
        # Times rise with size, so the upper left is free.
        axes.text(
            0.015, 0.92, "\n".join(lines), transform=axes.transAxes, va="top", fontsize=9.5,
            zorder=6, bbox=_BOX,
        )  # fmt: skip


def _label(swap: Swap, names: Mapping[str, str]) -> str:
    jump = " (a jump)" if swap.jump is not None else ""
    return (
        f"{spaced(format_size(swap.size, 4))}, {time_label(swap.time_us * 1e-6)}{jump}: "
        f"{names[swap.below]} faster below, {names[swap.above]} above"
    )
