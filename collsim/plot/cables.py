"""Links in a picture of a cluster: lines whose style tells their class, and a legend."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, TypedDict

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.plot.ladder import is_nic
from collsim.plot.places import BOX, NIC_DROP, Places, Spot, arc_height
from collsim.plot.style import time_label
from collsim.units import format_bandwidth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Line", "draw_cables", "legend_rows"]


class Line(TypedDict):
    """How the lines of one class of links look."""

    color: str
    linestyle: str | tuple[float, tuple[float, ...]]
    linewidth: float
    dash_capstyle: Literal["butt"]
    solid_capstyle: Literal["butt"]


# Okabe and Ito's colours; in grey, the dashes and the widths do.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A5C00", "#444444", "#3A9BDC")
_DASHES: Final[tuple[str | tuple[float, tuple[float, ...]], ...]] = (
    "-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (2.5, 1.2)), (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)  # fmt: skip
# Chords between more GPUs would be a black disk.
_CHORDS: Final = 16
_NIC: Final = 0.18


def _families(cluster: Cluster) -> list[int]:
    """Return of every class of links the one that it is drawn as.

    A class whose name begins with that of another, of the same bandwidth and without an
    alpha, is the same kind of cable further on.
    """
    classes = cluster.links.classes
    return [
        next(
            (
                j
                for j, other in enumerate(classes)
                if link.alpha == 0
                and link.bandwidth == other.bandwidth
                and link.name.startswith(f"{other.name}_")
            ),
            i,
        )
        for i, link in enumerate(classes)
    ]


def draw_cables(axes: "Axes", cluster: Cluster, places: Places) -> None:
    """Draw the links between boxes that are there, both directions of a cable as one line."""
    links = cluster.links
    if links.tail is None or links.head is None:
        _private(axes, cluster, places)
        return
    for i, kind, a, b in _visible(cluster, places):
        pair = sorted((places.spots[a], places.spots[b]), key=lambda s: (s.y, s.x))
        style = _style(cluster, kind)
        if is_nic(links.names[i]) and pair[0].gpu != pair[1].gpu:
            x, y = _through_nic(axes, pair[1], pair[0], style)
        else:
            x, y = _cable(axes, places, pair[0], pair[1], style)
        note = _note(cluster, i)
        if note:
            box = {"boxstyle": "round,pad=0.12", "facecolor": "#FFFFFF", "edgecolor": "none"}
            axes.text(x, y, note, ha="center", va="center", fontsize=8, zorder=6, bbox=box)


def _visible(cluster: Cluster, places: Places) -> Iterator[tuple[int, int, int, int]]:
    """Iterate over cables between boxes: a link of it, what it is drawn as, both ends."""
    links = cluster.links
    if links.tail is None or links.head is None:
        return
    drawn = _families(cluster)
    done: set[tuple[int, int, int]] = set()
    for i, (a, b) in enumerate(zip(links.tail.tolist(), links.head.tolist(), strict=True)):
        kind = drawn[int(links.kind[i])]
        key = (min(a, b), max(a, b), kind)
        if a != b and key not in done and a in places.spots and b in places.spots:
            done.add(key)
            yield i, kind, a, b


def _cable(
    axes: "Axes", places: Places, low: Spot, high: Spot, style: Line
) -> tuple[float, float]:
    """Draw a line between two boxes, and return a place for words, the middle of it."""
    if places.round or abs(low.y - high.y) > BOX:
        ends = [low, high]
        xs, ys = [s.x for s in ends], [s.y for s in ends]
        if not places.round:
            # From edge to edge, so that no line passes behind the box beside it.
            xs[1] += max(-1.0, min(1.0, (low.x - high.x) / 2.0)) * 0.4 * high.width
            xs[0] += 0.0 if low.gpu else max(-1.0, min(1.0, high.x - low.x)) * 0.3 * low.width
            ys = [low.y + BOX / 2, high.y - BOX / 2]
        axes.plot(xs, ys, zorder=2, **style)
        return sum(xs) / 2, sum(ys) / 2
    between = any(
        abs(s.y - low.y) < BOX and low.x < s.x < high.x for s in places.spots.values()
    )
    if not low.gpu and not between:
        xs = [low.x + low.width / 2, high.x - high.width / 2]
        axes.plot(xs, [low.y, high.y], zorder=2, **style)
        return sum(xs) / 2, low.y
    return _arc(axes, low, high, 1.0 if places.up or not low.gpu else -1.0, style)


def _arc(axes: "Axes", left: Spot, right: Spot, up: float, style: Line) -> tuple[float, float]:
    middle, half = (left.x + right.x) / 2, (right.x - left.x) / 2
    height = arc_height(left, right)
    turn = np.linspace(0.0, np.pi, 33)
    xs = middle - half * np.cos(turn)
    ys = left.y + up * (BOX / 2 + height * np.sin(turn))
    axes.plot(xs, ys, zorder=2, **style)
    return middle, float(left.y + up * (BOX / 2 + height))


def _through_nic(axes: "Axes", gpu: Spot, other: Spot, style: Line) -> tuple[float, float]:
    """Draw a cable from a GPU down to its NIC and on to a switch; return a place for words."""
    from matplotlib.patches import Rectangle

    if not gpu.gpu:
        gpu, other = other, gpu
    y = gpu.y - NIC_DROP
    axes.plot([gpu.x, gpu.x], [gpu.y, y], zorder=2, **style)
    to = other.x + max(-1.0, min(1.0, (gpu.x - other.x) / 2.0)) * 0.4 * other.width
    ends = [y - _NIC / 2, other.y + BOX / 2]
    axes.plot([gpu.x, to], ends, zorder=2, **style)
    axes.add_patch(
        Rectangle(
            (gpu.x - 0.2, y - _NIC / 2), 0.4, _NIC, facecolor="#FFFFFF",
            edgecolor="#000000", linewidth=0.9, zorder=4,
        )
    )  # fmt: skip
    axes.text(gpu.x, y - 0.008, "NIC", ha="center", va="center", fontsize=7, zorder=5)
    # Close to the NIC, because further down lines cross.
    return gpu.x + 0.25 * (to - gpu.x), ends[0] + 0.25 * (ends[1] - ends[0])


def _note(cluster: Cluster, link: int) -> str:
    """Return what makes a link different from others of its class."""
    links = cluster.links
    beta = float(links.beta[link])
    left = links.classes[links.kind[link]].beta / beta if beta else 1.0
    lanes = int(links.lanes[link])
    parts = [f"×{lanes}"] if lanes > 1 else []
    if left < 0.9995:
        parts.append(f"{left:.0%}" if left > 0 else "failed")
    return " ".join(parts)


def _private(axes: "Axes", cluster: Cluster, places: Places) -> None:
    """Draw an ideal network: every two GPUs have a link of their own."""
    spots = [places.spots[v] for v in sorted(places.spots)]
    style: Line = {**_style(cluster, 0), "linewidth": 1.0}
    for i, one in enumerate(spots[:_CHORDS]):
        for two in spots[i + 1 : _CHORDS]:
            _cable(axes, places, one, two, style)


def _style(cluster: Cluster, kind: int) -> Line:
    """Return the line of a class: the more bandwidth, the thicker."""
    rates = np.log([link.bandwidth for link in cluster.links.classes])
    span = float(rates.max() - rates.min())
    share = float(rates[kind] - rates.min()) / span if span > 0 else 0.4
    number = sorted(set(_families(cluster))).index(kind)
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "linewidth": 1.1 + 1.4 * share,
        "dash_capstyle": "butt",
        "solid_capstyle": "butt",
    }


def legend_rows(cluster: Cluster, places: Places) -> list[tuple[Line, str]]:
    """Return the line and the words of every class of links."""
    links = cluster.links
    seen = {kind for _, kind, _, _ in _visible(cluster, places)}
    drawn = _families(cluster)
    rows = []
    for kind in sorted(set(drawn)):
        mine = np.isin(links.kind, [i for i, other in enumerate(drawn) if other == kind])
        many = f"{int(mine.sum())} link{'s' * (int(mine.sum()) != 1)}"
        if links.tail is None:
            many = "every two GPUs have one of their own"
        elif kind not in seen:
            many += ", not in this picture"
        rows.append((_style(cluster, kind), f"{_words(links.classes[kind])}; {many}"))
    return rows


def _words(link: LinkClass) -> str:
    rate = format_bandwidth(link.bandwidth)
    number = rate.rstrip("KMGTiBbs/")
    alpha = f"α {time_label(link.alpha)} a message" if link.alpha else "no α of its own"
    return f"{link.name}: {number} {rate[len(number) :]} each way, {alpha}"
