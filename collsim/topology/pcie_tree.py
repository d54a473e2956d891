"""One node of GPUs on PCIe: under switches, these under host bridges, these in sockets.

Peer traffic climbs as far as it has to. What leaves a switch shares its uplink with all
GPUs below, what leaves a host bridge the way into the socket, and what leaves a socket
the link between the two.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut, Router
from collsim.core.link import Bundle, LinkClass, Links
from collsim.errors import InputError
from collsim.topology._node import check_gpus, plural, route_cost
from collsim.topology._routes import Routes, from_columns
from collsim.topology._shape import Key, NodeShape

__all__ = ["SHAPE", "pcie_tree"]

IntArray = NDArray[np.int64]
_MOST = 4096


@dataclass(frozen=True, eq=False)
class _Climb:
    """Up to where both ends meet, and down again.

    Parameters
    ----------
    above : tuple of int array, each shape (P,)
        Number of every GPU (itself), its switch, its bridge and its socket.
    up, down : tuple of int
        First link from each of these levels up, and first one down to it.
    across : int
        First link between sockets, a to b in the order of pairs.
    """

    above: tuple[IntArray, ...]
    up: tuple[int, ...]
    down: tuple[int, ...]
    across: int

    def __call__(self, src: IntArray, dst: IntArray) -> Routes:
        climbs: list[IntArray] = []
        falls: list[IntArray] = []
        for level, first, last in zip(self.above[:-1], self.up, self.down, strict=True):
            apart = level[src] != level[dst]
            climbs.append(np.where(apart, first + level[src], -1))
            falls.append(np.where(apart, last + level[dst], -1))
        a, b = self.above[-1][src], self.above[-1][dst]
        sockets = int(self.above[-1].max()) + 1
        cross = np.where(a != b, self.across + a * (sockets - 1) + b - (b > a), -1)
        return from_columns([*climbs, cross, *reversed(falls)], src.size)


def pcie_tree(
    gpus: int,
    link: LinkClass,
    name: str,
    *,
    gpus_per_switch: int | None = None,
    switches_per_bridge: int = 1,
    bridges_per_socket: int = 1,
    uplink: LinkClass | None = None,
    bridge: LinkClass | None = None,
    socket: LinkClass | None = None,
    gamma: float = 0.0,
    launch: float = 0.0,
) -> Cluster:
    """Return one node as a tree of PCIe switches, host bridges and sockets.

    Parameters
    ----------
    gpus : int
        GPUs of the node. All groups are filled in the order of GPUs; the last may have
        fewer.
    link : LinkClass
        From a GPU to its switch; alpha is that of a whole message between two GPUs.
    name : str
        Name of the cluster.
    gpus_per_switch : int, optional
        All of them by default. With 1, every GPU has a port of the host bridge to itself.
    switches_per_bridge, bridges_per_socket : int
        How these are grouped further up.
    uplink : LinkClass, optional
        From a switch to its host bridge; by default as fast as `link`. Where it is given,
        its alpha comes on top of that of `link`; so it is with the next two.
    bridge : LinkClass, optional
        From a host bridge into its socket; by default as fast as the uplink.
    socket : LinkClass, optional
        From one socket to another; needed where there are several.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.

    Raises
    ------
    InputError
        If there are several sockets and no link between them.

    Examples
    --------
    >>> wire = LinkClass("pcie", alpha=1e-6, bandwidth=1e9)
    >>> box = pcie_tree(4, wire, "box", gpus_per_switch=2, switches_per_bridge=2)
    >>> [box.links.names[i] for i in box.route(0, 3)]
    ['gpu[0].up', 'switch[0].up', 'switch[1].down', 'gpu[3].down']
    """
    gpus = check_gpus(gpus, _MOST, "PCIe tree")
    levels = [np.arange(gpus)]
    for size in (gpus_per_switch or gpus, switches_per_bridge, bridges_per_socket):
        levels.append(levels[-1] // size)
    counts = [int(level.max()) + 1 for level in levels]
    if counts[3] > 1 and socket is None:
        raise InputError(f"socket: missing, expected a link to join {counts[3]} sockets")
    uplink_class = link if uplink is None else uplink
    classes = (link, uplink_class, uplink_class if bridge is None else bridge)
    pays = (True, uplink is not None, bridge is not None)
    bundles: list[Bundle] = []
    up, down, base = [], [], 0
    first = [0, gpus, gpus + counts[1], gpus + counts[1] + counts[2]]
    for i, part in enumerate(("gpu", "switch", "bridge")):
        # Nothing climbs past the level at which all GPUs meet.
        count = counts[i] if counts[i] > 1 or i == 0 else 0
        low = first[i] + np.arange(count)
        high = first[i + 1] + _parents(levels[i], levels[i + 1])[:count]
        names = [[f"{part}[{k}].{way}" for k in range(count)] for way in ("up", "down")]
        bundles.append(Bundle(names[0], classes[i], pays[i], low, high))
        bundles.append(Bundle(names[1], classes[i], False, high, low))
        up.append(base)
        down.append(base + count)
        base += 2 * count
    if socket is not None and counts[3] > 1:
        pairs = [(a, b) for a in range(counts[3]) for b in range(counts[3]) if a != b]
        tail, head = first[3] + np.array(pairs).T
        across = [f"socket[{a}]>socket[{b}]" for a, b in pairs]
        bundles.append(Bundle(across, socket, True, tail, head))
    bundles = [bundle for bundle in bundles if bundle.names]
    flat = counts[1] == 1
    links = Links.assemble(*bundles)
    router = _Climb(tuple(levels), tuple(up), tuple(down), base)
    # No two GPUs are nearer than the first two.
    least = route_cost(links, router, 0, 1) if gpus > 1 else (0.0, 0.0)
    return Cluster(
        name=name,
        ranks=gpus,
        links=links,
        router=router,
        least_alpha=least[0],
        least_busy=least[1],
        node=np.zeros(gpus, dtype=np.int64),
        cuts=tuple(
            replace(cut, least_alpha=_nearest(cut, links, router))
            for cut in _cuts(levels, counts, classes, socket)
        ),
        gamma=gamma,
        launch=launch,
        uniform=(link.alpha, link.beta) if flat and link.busy == link.alpha else None,
        shape=_phrase(counts),
        # Nothing stands above the level at which all GPUs meet.
        devices=tuple(
            f"{part}[{k}]"
            for i, part in enumerate(("switch", "bridge", "socket"))
            for k in range(counts[i + 1] if i == 0 or counts[i] > 1 else 0)
        ),
    )


def _parents(level: IntArray, above: IntArray) -> IntArray:
    """Return the parent of every member of a level."""
    return above[np.unique(level, return_index=True)[1]]


def _nearest(cut: Cut, links: Links, router: Router) -> float:
    """Return the alpha between the first group and the one next to it, the nearest two."""
    other = np.flatnonzero(cut.group)
    return route_cost(links, router, 0, int(other[0]))[0] if other.size else 0.0


def _cuts(
    levels: list[IntArray],
    counts: list[int],
    classes: tuple[LinkClass, ...],
    socket: LinkClass | None,
) -> tuple[Cut, ...]:
    cuts = [
        Cut(part, levels[i], classes[i].bandwidth, classes[i].bandwidth)
        for i, part in enumerate(("rank", "switch", "bridge"))
        if counts[i] > 1 or i == 0
    ]
    if socket is not None and counts[3] > 1:
        rate = (counts[3] - 1) * socket.bandwidth
        cuts.append(Cut("socket", levels[3], rate, rate))
    return tuple(cuts)


def _phrase(counts: list[int]) -> str:
    gpus, switches, bridges, sockets = counts
    parts = [f"{plural(gpus, 'GPU')} under {plural(switches, 'PCIe switch', 'es')}"]
    if switches > 1:
        parts.append(plural(bridges, "host bridge"))
    if bridges > 1:
        parts.append(plural(sockets, "socket"))
    return f"one node, {', '.join(parts)}"


SHAPE = NodeShape(
    build=pcie_tree,
    keys={
        "gpus": Key("count"),
        "link": Key("link"),
        "gpus_per_switch": Key("count", None),
        "switches_per_bridge": Key("count", 1),
        "bridges_per_socket": Key("count", 1),
        "uplink": Key("link", None),
        "bridge": Key("link", None),
        "socket": Key("link", None),
    },
)
