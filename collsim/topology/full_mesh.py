"""One node with a cable between every two GPUs: GH200 and A100 nodes of four, MI300X."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.topology._node import check_gpus, mesh, plural, widened
from collsim.topology._routes import Routes
from collsim.topology._shape import Key, NodeShape

__all__ = ["SHAPE", "full_mesh"]

IntArray = NDArray[np.int64]
_MOST = 1024


@dataclass(frozen=True)
class _Direct:
    gpus: int

    def __call__(self, src: IntArray, dst: IntArray) -> Routes:
        link = src * (self.gpus - 1) + dst - (dst > src)
        return np.arange(src.size + 1, dtype=np.int64), link

    def renamed(self, to: IntArray) -> tuple[IntArray, IntArray] | None:
        """Return which link becomes which: every pair has its own."""
        if to.size != self.gpus:
            return None
        src, dst = np.nonzero(~np.eye(self.gpus, dtype=np.bool_))
        return self(src, dst)[1], self(to[src], to[dst])[1]


def full_mesh(
    gpus: int,
    link: LinkClass,
    name: str,
    *,
    width: int = 1,
    lanes: int = 1,
    gamma: float = 0.0,
    launch: float = 0.0,
) -> Cluster:
    """Return one node with cables between every two GPUs.

    Parameters
    ----------
    gpus : int
        GPUs of the node.
    link : LinkClass
        One cable.
    name : str
        Name of the cluster.
    width : int
        Cables of a pair that one message uses together: their bandwidth adds up.
    lanes : int
        Such bundles of a pair: a message takes one of them.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.

    Examples
    --------
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> four = full_mesh(4, wire, "four", width=6)
    >>> [four.links.names[i] for i in four.route(3, 1)], four.links.classes[0].bandwidth
    (['gpu[3]>gpu[1]'], 6000000000.0)
    """
    gpus = check_gpus(gpus, _MOST, "full mesh")
    whole = widened(link, width)
    pairs = [(a, b, whole) for a in range(gpus) for b in range(gpus) if a != b]
    each = f"{plural(gpus, 'GPU')}, each joined to every other"
    return mesh(name, gpus, pairs, _Direct(gpus), each, lanes=lanes, gamma=gamma, launch=launch)


SHAPE = NodeShape(
    build=full_mesh,
    keys={
        "gpus": Key("count"),
        "link": Key("link"),
        "width": Key("count", 1),
        "lanes": Key("count", 1),
    },
)
