"""Names at the right ends of curves, none on another."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["name_ends", "spread"]

# Points from the axes to a name, and from one name to the next.
_AWAY: Final = 18.0
_LINE: Final = 12.5
# Of a picture's height and width, what its axes have, about.
_HEIGHT, _WIDTH = 0.72, 0.7


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Return places as near to the wanted ones as can be, `gap` apart, in the same order.

    Parameters
    ----------
    wanted : sequence of float
        Rising.
    gap : float
        The least distance.

    Examples
    --------
    >>> spread([0.0, 0.1, 5.0], 1.0)
    [-0.45, 0.55, 5.0]
    """
    groups: list[tuple[float, int]] = []  # the sum of what the first one wants, and how many
    for place in wanted:
        total, n = place, 1
        while groups:
            before, m = groups[-1]
            if before / m + gap * m <= total / n:
                break
            # Joined, each of the later ones asks the first to be that much lower.
            groups.pop()
            total, n = before + total - gap * m * n, m + n
        groups.append((total, n))
    return [total / n + gap * i for total, n in groups for i in range(n)]


def name_ends(axes: "Axes", ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write names beside the right end of the axes, each with a line from its curve.

    Limits and scales of the axes must be set.

    Parameters
    ----------
    axes : Axes
        The right half of its margin is free.
    ends : sequence of (float, float, str, str)
        Where each curve ends, in data; its name and its colour.
    """
    figure: Any = axes.get_figure()
    if figure is None or not ends:
        return
    width, height = (72.0 * side for side in figure.get_size_inches())
    to_axes = axes.transData + axes.transAxes.inverted()
    placed = sorted(
        (float(to_axes.transform((x, y))[1]), x, y, name, colour) for x, y, name, colour in ends
    )
    gap = _LINE / (_HEIGHT * height)
    places = spread([one[0] for one in placed], gap)
    # All stay beside the axes.
    lowest, highest = 0.0, max(1.0, gap * (len(places) - 1))
    places = [max(place, lowest + gap * i) for i, place in enumerate(places)]
    places = [
        min(place, highest - gap * (len(places) - 1 - i)) for i, place in enumerate(places)
    ]
    for place, (_, x, y, name, colour) in zip(places, placed, strict=True):
        axes.annotate(
            name, (x, y), xytext=(1.0 + _AWAY / (_WIDTH * width), place),
            textcoords="axes fraction", ha="left", va="center", fontsize=9.5,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "lw": 0.9, "shrinkA": 1, "shrinkB": 2,
                "relpos": (0.0, 0.5),
            },
        )  # fmt: skip
