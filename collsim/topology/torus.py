"""One node as a torus of two or three dimensions, with dimension-order routing."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.errors import InputError
from collsim.topology._node import check_gpus, mesh, plural
from collsim.topology._routes import Routes, from_columns
from collsim.topology._shape import Key, NodeShape

__all__ = ["SHAPE", "rings", "torus"]

IntArray = NDArray[np.int64]
_MOST = 1 << 16


@dataclass(frozen=True, eq=False)
class _DimensionOrder:
    """First along the last dimension, whose neighbours have neighbouring numbers.

    Each dimension the short way round; of two equal ways, upwards.

    Parameters
    ----------
    sides : tuple of int
        Length of every dimension.
    up, down : int array, shape (D, P)
        Link from every GPU to the next one up, or down, in every dimension.
    """

    sides: tuple[int, ...]
    up: IntArray
    down: IntArray

    def __call__(self, src: IntArray, dst: IntArray) -> Routes:
        here, there = (list(np.unravel_index(end, self.sides)) for end in (src, dst))
        columns = []
        for axis in reversed(range(len(self.sides))):
            side = self.sides[axis]
            ahead = (there[axis] - here[axis]) % side
            upward = 2 * ahead <= side
            steps = np.where(upward, ahead, side - ahead)
            for step in range(int(steps.max(initial=0))):
                gpu = np.ravel_multi_index(here, self.sides)
                link = np.where(upward, self.up[axis, gpu], self.down[axis, gpu])
                columns.append(np.where(step < steps, link, -1))
                move = np.where(upward, 1, -1) * (step < steps)
                here[axis] = (here[axis] + move) % side
        return from_columns(columns, src.size)

    def renamed(self, to: IntArray) -> tuple[IntArray, IntArray] | None:
        """Return which link becomes which, if all move equally far in every dimension."""
        if to.size != math.prod(self.sides):
            return None
        here = np.unravel_index(np.arange(to.size), self.sides)
        there = np.unravel_index(to, self.sides)
        for a, b, side in zip(here, there, self.sides, strict=True):
            moved = (b - a) % side
            if (moved != moved[0]).any():
                return None
        ways = np.concatenate([self.up, self.down])
        exists = ways >= 0
        return ways[exists], ways[:, to][exists]


def torus(
    sides: tuple[int, ...],
    link: LinkClass,
    name: str,
    *,
    gamma: float = 0.0,
    launch: float = 0.0,
) -> Cluster:
    """Return one node whose GPUs are joined to their neighbours, each dimension a ring.

    GPUs are numbered along the last dimension first. A message goes the short way round
    in the last dimension, then in the one before; of two equal ways upwards. It pays the
    alpha of every cable on the way.

    Parameters
    ----------
    sides : tuple of int
        GPUs in every dimension. In a dimension of two there is one cable, not two.
    link : LinkClass
        From a GPU to its neighbour.
    name : str
        Name of the cluster.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.

    Raises
    ------
    InputError
        For more than three dimensions, or too many GPUs.

    Examples
    --------
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> grid = torus((3, 4), wire, "grid")
    >>> [grid.links.names[i] for i in grid.route(0, 7)]
    ['gpu[0]>gpu[3]', 'gpu[3]>gpu[7]']
    """
    if not 1 <= len(sides) <= 3:
        raise InputError(f"sides: got {len(sides)} numbers, expected 2 or 3")
    each = f"{plural(math.prod(sides), 'GPU')} in a {' x '.join(map(str, sides))} torus"
    return rings(sides, link, name, each, gamma, launch)


def rings(
    sides: tuple[int, ...], link: LinkClass, name: str, each: str, gamma: float, launch: float
) -> Cluster:
    """Return a torus of any number of dimensions; `each` is the phrase for its shape."""
    gpus = check_gpus(math.prod(sides), _MOST, "torus")
    places = list(product(*map(range, sides)))
    number = {place: i for i, place in enumerate(places)}
    wires: dict[tuple[int, int], int] = {}
    reach = np.full((2, len(sides), gpus), -1, dtype=np.int64)
    for axis, side in enumerate(sides):
        for sign, way in enumerate((1, -1)):
            for gpu, place in enumerate(places):
                next_one = (*place[:axis], (place[axis] + way) % side, *place[axis + 1 :])
                if side > 1:
                    pair = (gpu, number[next_one])
                    reach[sign, axis, gpu] = wires.setdefault(pair, len(wires))
    router = _DimensionOrder(tuple(sides), reach[0], reach[1])
    cables = [(a, b, link) for a, b in wires]
    return mesh(name, gpus, cables, router, each, gamma=gamma, launch=launch)


SHAPE = NodeShape(build=torus, keys={"sides": Key("counts"), "link": Key("link")})
