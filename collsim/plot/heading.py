"""What stands above a picture: what it shows, on which cluster, and what that depends on."""

from typing import TYPE_CHECKING, Any, Final

from collsim.core.cluster import Cluster
from collsim.plot.style import spaced, time_label
from collsim.units import format_bandwidth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["counted", "described", "head"]

_TITLE, _SMALL = 12.0, 9.5
# Of an inch, what a letter takes at a point of size.
_LETTER: Final = 0.0079
# Inches beside the axes that a title can't have: names of ticks, and what is on the right.
_MARGIN: Final = 1.0


def head(
    axes: "Axes", title: str, subtitle: str, margin: float = _MARGIN, above: float = 0.0
) -> None:
    """Write a title and, smaller, a line below it; letters shrink where they are many.

    Parameters
    ----------
    axes : Axes
        Above which they go.
    title, subtitle : str
        One line each.
    margin : float
        Inches of the picture's width that the axes don't have.
    above : float
        Points above the axes that are taken.
    """
    figure: Any = axes.get_figure()
    room = (8.0 if figure is None else figure.get_size_inches()[0]) - margin

    def size(most: float, text: str) -> float:
        return min(most, room / (_LETTER * max(1, len(text))))

    axes.set_title(title, loc="left", pad=22 + above, fontsize=size(_TITLE, title))
    axes.annotate(
        subtitle, (0.0, 1.0), xytext=(0, 5 + above), xycoords="axes fraction", va="bottom",
        textcoords="offset points", fontsize=size(_SMALL, subtitle), color="#333333",
        annotation_clip=False,
    )  # fmt: skip


def counted(number: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "rank"), counted(8, "node")
    ('1 rank', '8 nodes')
    """
    return f"{number} {what}{'s' * (number != 1)}"


def described(cluster: Cluster) -> str:
    """Return what times depend on: the network, with its numbers if they are one pair.

    Examples
    --------
    >>> described(Cluster.ideal(4, "1us", "1GB/s", launch="5us"))
    'ideal one-port network, α 1 µs, 1/β 1 GB/s, launch 5 µs'
    """
    parts = [cluster.shape]
    if cluster.uniform is not None:
        alpha, beta = cluster.uniform
        parts += [f"α {time_label(alpha)}", f"1/β {spaced(format_bandwidth(1 / beta))}"]
    if cluster.launch:
        parts.append(f"launch {time_label(cluster.launch)}")
    if cluster.gamma:
        parts.append(f"1/γ {spaced(format_bandwidth(1 / cluster.gamma))}")
    if cluster.sharing != "fifo":
        parts.append(f"sharing {cluster.sharing}")
    return ", ".join(parts)
