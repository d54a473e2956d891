"""What NCCL's graph search finds on a regular machine: channels, and GB/s of each.

NCCL tries speeds from a list, the highest first, packs channels of that speed onto the links,
and keeps the speed at which all channels together are fastest. On machines where all GPUs are
alike, what fits is a division. NCCL 2.30.7 src/graph/search.cc: ncclTopoCompute,
ncclTopoDupChannels, ncclTopoCompareGraphs, ncclTopoSearchTryNvls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from collsim.nccl.communicator import NO_GRAPH, Graph

__all__ = ["Node", "nvls_graph", "ring_graph", "tree_graph"]

# GB/s. NCCL 2.30.7 src/graph/search.cc, lines 1051-1067; by least compute capability.
_INTRA: Final = {
    0: (40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3),
    90: (60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3),
    100: (90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18),
}
_INTER: Final = {
    0: (48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12),
    90: (48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12),
    100: (
        96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12,
    ),
}  # fmt: skip
_MOST_RINGS: Final = 32
_MOST_HEADS: Final = 32
_LITTLE: Final = 1e-6


@dataclass(frozen=True)
class Node:
    """A node, as far as the search depends on it. Bandwidths are GB/s in NCCL's reckoning.

    Parameters
    ----------
    gpus, capability : int
        GPUs of the node, and their compute capability.
    gpu : float
        What leaves a GPU towards others.
    links : tuple of float
        The same, link by link: one towards a switch, or one per neighbour.
    between : float
        What crosses the narrowest place inside the node; infinity where there is none.
    through_cpu : float
        What a byte through a CPU costs of a GPU's PCIe, 6/5 on Intel's.
    cards : int
        Network cards that are used; 0 on a single node.
    card : float
        What leaves a card.
    shared : bool
        Whether cards and other GPUs share a GPU's link (PCIe).
    type_intra, type_inter : str
        Kinds of path.
    latency : float
        Microseconds of the network that its plugin tells.
    """

    gpus: int
    capability: int
    gpu: float
    links: tuple[float, ...]
    between: float
    through_cpu: float
    cards: int
    card: float
    shared: bool
    type_intra: str
    type_inter: str
    latency: float

    @property
    def speeds(self) -> tuple[float, ...]:
        """Speeds to try, the highest first."""
        table = _INTER if self.cards else _INTRA
        return table[max(least for least in table if self.capability >= least)]

    @property
    def fastest(self) -> float:
        """Most that one channel can carry."""
        return self.card if self.cards else max(self.links)

    def rings(self, speed: float) -> int:
        """Return how many rings of a speed fit."""
        cost = speed * self.through_cpu
        fit = sum(int(link / cost + _LITTLE) for link in self.links)
        if self.between < float("inf"):
            fit = min(fit, int(self.between / speed + _LITTLE))
        if not self.cards:
            return min(fit, _MOST_RINGS)
        out = self.cards * int(self.card / speed + _LITTLE)
        if self.gpus == 1:
            return min(out, _MOST_RINGS)
        # A ring leaves the node at its last GPU, which spares that one's link.
        while out and not self.chains(out, speed) and (self.shared or out > fit):
            out -= 1
        return min(out, _MOST_RINGS)

    def chains(self, channels: int, speed: float) -> bool:
        """Whether so many channels fit that visit each GPU once, beginning anywhere."""
        cost = speed * self.through_cpu
        last = 0 if self.shared else channels // self.gpus
        return (channels - last) * cost <= self.gpu + _LITTLE and (
            channels * speed <= self.between + _LITTLE
        )


def ring_graph(node: Node) -> Graph:
    """Return the rings.

    Examples
    --------
    >>> switch = Node(8, 90, 370.8, (370.8,), float("inf"), 1, 0, 0, False, "NVL", "PIX", 0)
    >>> graph = ring_graph(switch)
    >>> graph.channels, graph.bw_intra
    (12, 30.0)
    """
    total = node.gpu if node.gpus > 1 else node.card
    channels, speed = _search(node.speeds, node.fastest, total, 1, node.rings)
    channels, speed = _twice(node, channels, speed)
    for faster in node.speeds[::-1]:
        if faster > speed and faster <= node.fastest and node.rings(faster) >= channels:
            speed = faster
    return Graph(
        channels=channels,
        bw_intra=speed,
        bw_inter=speed,
        latency_inter=node.latency,
        type_intra=node.type_intra,
        type_inter=node.type_inter,
        pattern=4,
    )


def _search(
    speeds: tuple[float, ...],
    fastest: float,
    total: float,
    least: int,
    fit: Callable[[float], int],
) -> tuple[int, float]:
    best, best_speed = 0, 0.0
    for place, speed in enumerate(speeds):
        last = place == len(speeds) - 1
        if (speed > fastest + _LITTLE or speed * least > total + _LITTLE) and not last:
            continue
        found = fit(speed)
        if found >= least and found * speed > best * best_speed:
            best, best_speed = found, float(speed)
        if best * best_speed >= total:
            break
        if best and not last and speeds[place + 1] / best_speed <= 0.49:
            break
    return best, best_speed


def _twice(node: Node, channels: int, speed: float) -> tuple[int, float]:
    """Return the channels doubled where they are fast."""
    slow = node.capability > 80 and speed < 50 and channels > 4
    if not channels or speed < 25 or slow:
        return channels, speed
    more = min(2 * channels, _MOST_RINGS)
    return more, speed / -(-more // channels)


def tree_graph(node: Node, ring: Graph) -> Graph:
    """Return the trees, of as many channels as there are rings."""
    n = ring.channels
    total = node.gpu
    if node.gpus > 1:
        total *= node.gpus / (node.gpus - 1)

    def fit(speed: float) -> int:
        if node.cards and n * speed > node.cards * node.card + _LITTLE:
            return 0
        return n if node.gpus == 1 or node.chains(n, speed) else 0

    found, speed = _search(node.speeds, node.fastest, total, n, fit)
    if not found:
        return Graph(
            n, ring.bw_intra, ring.bw_inter, node.latency,
            node.type_intra, node.type_inter, False, 1 if node.gpus > 1 else 3,
        )  # fmt: skip
    inside = speed
    if node.cards:
        # Inside a node trees may be faster, up to twice.
        for faster in node.speeds[::-1]:
            able = node.gpus == 1 or node.chains(n, faster)
            if faster > inside and inside < 2 * speed and able:
                inside = float(faster)
    return Graph(
        channels=n,
        bw_intra=inside,
        bw_inter=speed,
        latency_inter=node.latency,
        type_intra=node.type_intra,
        type_inter=node.type_inter,
        same_channels=node.gpus == 1,
        pattern=1 if node.gpus > 1 else 3,
    )


def nvls_graph(node: Node) -> Graph:
    """Return what GPUs pull from the switch: a channel a GPU, its own twice as busy.

    Examples
    --------
    >>> switch = Node(8, 90, 370.8, (370.8,), float("inf"), 1, 0, 0, False, "NVL", "PIX", 0)
    >>> nvls_graph(switch).bw_intra
    40.0
    """
    heads = min(node.gpus, _MOST_HEADS, node.cards or node.gpus)
    for speed in node.speeds:
        if speed <= node.fastest and (heads + 1) * speed <= node.gpu + _LITTLE:
            break
    else:
        return NO_GRAPH
    inter = speed
    for faster in node.speeds[::-1]:
        most = node.card if node.cards else float("inf")
        if faster > inter and inter < 2 * speed and faster <= most + _LITTLE:
            inter = faster
    return Graph(
        channels=heads,
        bw_intra=float(speed),
        bw_inter=float(inter),
        latency_inter=node.latency,
        type_intra=node.type_intra,
        type_inter=node.type_inter,
        same_channels=False,
        pattern=5,
    )
