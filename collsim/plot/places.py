"""Where the GPUs and devices of a cluster stand in a picture of it, in inches."""

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from collsim.core.cluster import Cluster
from collsim.plot.ladder import Ladder, climb

__all__ = ["BOX", "NIC_DROP", "Places", "Spot", "arc_height", "place"]

BOX: Final = 0.36  # height of a box
NIC_DROP: Final = 0.56  # from the middle of a GPU down to that of its NIC

# Nodes that are drawn one by one, and GPUs of a node; of more, some.
_NODES: Final = 3
_GPUS: Final = 16
_FEW: Final = 8

_PITCH: Final = 0.66
_WIDE: Final = 0.56
_LEVEL: Final = 0.9
_LETTER: Final = 0.078
_MORE: Final = 1.0  # room for a note about what is not drawn


@dataclass(frozen=True)
class Spot:
    """A box: its centre, width and what is written in it."""

    x: float
    y: float
    width: float
    text: str
    gpu: bool


@dataclass
class Places:
    """A layout.

    Parameters
    ----------
    spots : dict of int to Spot
        By vertex.
    frames : list of (float, float, float, float, str)
        Left, bottom, right and top of every node that is drawn, and its title.
    notes : list of (float, float, str)
        What is not drawn.
    round : bool
        Whether GPUs stand on circles.
    up : bool
        Whether links between GPUs of a row bend upwards.
    """

    spots: dict[int, Spot] = field(default_factory=dict)
    frames: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    notes: list[tuple[float, float, str]] = field(default_factory=list)
    round: bool = False
    up: bool = True

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of all of it."""
        spots = self.spots.values()
        return (
            min([f[0] for f in self.frames] + [s.x - s.width / 2 for s in spots]),
            min([f[1] for f in self.frames] + [s.y - BOX / 2 for s in spots]),
            max(
                [f[2] for f in self.frames]
                + [s.x + s.width / 2 for s in spots]
                + [x + _MORE for x, _, _ in self.notes]
            ),
            max([f[3] for f in self.frames] + [s.y + BOX / 2 for s in spots]),
        )


def arc_height(one: Spot, two: Spot) -> float:
    """Return how far a link between two boxes of a row bends away from it."""
    return 0.1 + 0.13 * abs(one.x - two.x) / _PITCH


def place(cluster: Cluster) -> Places:
    """Return a layout: GPUs of a node side by side, its devices above, the network below.

    GPUs of one node that are joined to each other, without devices, stand on a circle.

    Parameters
    ----------
    cluster : Cluster
        What to draw.

    Examples
    --------
    >>> places = place(Cluster.load("dgx-h100", nodes=2))
    >>> len(places.frames), places.spots[0].text, places.spots[0].y < places.spots[16].y
    (2, 'GPU 0', True)
    """
    shown = _shown(cluster)
    ladder = climb(cluster, [rank for ranks in shown for rank in ranks])
    alone = not ladder.level
    places = Places(round=alone and len(shown) == 1 and len(shown[0]) > 2)
    places.up = not any(kind == "above" for kind in ladder.side.values()) or bool(ladder.nics)
    left = 0.0
    for ranks in shown:
        node = int(cluster.node[ranks[0]])
        skipped = node - len(places.frames)
        if skipped:
            places.notes.append((left - 0.25, 0.0, f"… {skipped} more nodes\nlike these"))
            left += 1.25
        left = _node(places, cluster, ladder, node, ranks, left) + 0.45
    _network(places, cluster, ladder)
    return places


def _shown(cluster: Cluster) -> list[list[int]]:
    """Return the ranks that are drawn, node by node."""
    nodes = range(cluster.nodes)
    shown = []
    # The first and the last one are the furthest apart, so all of the network is seen.
    for node in nodes if len(nodes) <= _NODES else (0, nodes[-1]):
        ranks = np.flatnonzero(cluster.node == node).tolist()
        shown.append(ranks if len(ranks) <= _GPUS else ranks[:_FEW])
    return shown


def _node(
    places: Places,
    cluster: Cluster,
    ladder: Ladder,
    node: int,
    ranks: list[int],
    left: float,
) -> float:
    """Place a node and all that is in it, and return where it ends."""
    mine = [v for v, home in ladder.home.items() if home == node]
    levels = sorted({(ladder.side[v], ladder.level[v]) for v in mine})
    rows = [[v for v in mine if (ladder.side[v], ladder.level[v]) == key] for key in levels]
    # GPUs stand as far apart as the widest row of devices needs.
    need = max((sum(_width(cluster, v) + 0.1 for v in row) for row in rows), default=0.0)
    pitch = max(_PITCH, need / len(ranks))
    if places.round:
        _circle(places, ranks, left)
    else:
        for i, rank in enumerate(ranks):
            x = left + 0.1 + pitch * (i + 0.5)
            places.spots[rank] = Spot(x, 0.0, _WIDE, f"GPU {rank}", True)
    for (side, level), row in zip(levels, rows, strict=True):
        sign = 1.0 if side == "above" else -1.0
        lift = sign * _LEVEL * level
        _row(places, cluster, ladder, row, lift)
    return _frame(places, cluster, ladder, node, ranks, left)


def _circle(places: Places, ranks: list[int], left: float) -> None:
    radius = max(0.85, len(ranks) * 0.185)
    turn = 2 * math.pi / len(ranks)
    # Two by two at the top where the number is even.
    start = math.pi / 2 + turn / 2 * (len(ranks) % 2 == 0)
    for i, rank in enumerate(ranks):
        x = left + 0.4 + radius * (1 + math.cos(start - turn * i))
        y = radius * math.sin(start - turn * i)
        places.spots[rank] = Spot(x, y, _WIDE, f"GPU {rank}", True)


def _width(cluster: Cluster, vertex: int) -> float:
    return 0.24 + _LETTER * len(cluster.vertex(vertex))


def _row(places: Places, cluster: Cluster, ladder: Ladder, row: list[int], y: float) -> None:
    """Place a row of devices by what they join, pushed apart where they would overlap."""
    wanted = []
    for vertex in row:
        near = [
            places.spots[v].x
            for v in ladder.beside.get(vertex, ())
            if v in places.spots and abs(places.spots[v].y) < abs(y)
        ]
        wanted.append((float(np.mean(near)) if near else 0.0, vertex, _width(cluster, vertex)))
    wanted.sort()
    xs = [x for x, _, _ in wanted]
    for i in range(1, len(xs)):
        xs[i] = max(xs[i], xs[i - 1] + (wanted[i - 1][2] + wanted[i][2]) / 2 + 0.1)
    shift = float(np.mean([x for x, _, _ in wanted]) - np.mean(xs))
    for x, (_, vertex, width) in zip(xs, wanted, strict=True):
        places.spots[vertex] = Spot(x + shift, y, width, cluster.vertex(vertex), False)


def _frame(
    places: Places,
    cluster: Cluster,
    ladder: Ladder,
    node: int,
    ranks: list[int],
    left: float,
) -> float:
    """Draw the box of a node around all that is in it, and return where it ends."""
    inside = [v for v, home in ladder.home.items() if home == node]
    spots = [places.spots[v] for v in (*ranks, *inside)]
    bottom = min(s.y for s in spots) - BOX / 2 - 0.14
    top = max(s.y for s in spots) + BOX / 2 + 0.14
    right = max(s.x + s.width / 2 for s in spots) + 0.14
    if ladder.nics & set(ranks):
        bottom = min(bottom, -NIC_DROP - 0.24)
    bends = [
        arc_height(places.spots[a], places.spots[b]) + BOX / 2 + 0.1
        for a in ranks
        for b in ladder.beside.get(a, ())
        if b in places.spots and b < cluster.ranks and not places.round
    ]
    top = max([top, *(bends if places.up else [])])
    bottom = min([bottom, *([] if places.up else [-bend for bend in bends])])
    rest = int((cluster.node == node).sum()) - len(ranks)
    if rest:
        places.notes.append((right + 0.05, 0.0, f"… {rest} more\nGPUs"))
        right += _MORE
    title = f"node {node}" if cluster.nodes > 1 else ""
    low = min(left, *(s.x - s.width / 2 - 0.14 for s in spots))
    places.frames.append((low, bottom, right, top + 0.24 * bool(title), title))
    return right


def _network(places: Places, cluster: Cluster, ladder: Ladder) -> None:
    """Place the devices between nodes, level by level, over the width of the picture."""
    outside = [v for v in ladder.level if v not in ladder.home]
    low = min(frame[1] for frame in places.frames)
    left, right = places.frames[0][0], places.frames[-1][2]
    for step, level in enumerate(sorted({ladder.level[v] for v in outside})):
        row = sorted(v for v in outside if ladder.level[v] == level)
        need = max(_width(cluster, v) for v in row) + 0.12
        span = max(0.8 * (right - left), need * (len(row) - 1)) if len(row) > 1 else 0.0
        for i, vertex in enumerate(row):
            share = i / (len(row) - 1) - 0.5 if len(row) > 1 else 0.0
            x = (left + right) / 2 + span * share
            y = low - 0.75 - _LEVEL * step
            name = cluster.vertex(vertex)
            places.spots[vertex] = Spot(x, y, _width(cluster, vertex), name, False)
