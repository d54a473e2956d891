"""What the largest sizes say of the cards between nodes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from collsim.calibrate.check.suggest._rows import Compared, Size
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.units import format_bandwidth, format_size

__all__ = ["Network", "network_of", "of_network"]

_CARD: Final = re.compile(r"nic\[\d+\]\.up")
# A card gives so much of its nominal rate to a collective that uses it well.
_LEAST_OF_CARD, _MOST_OF_CARD = 0.85, 1.03
_FABRIC: Final = 0.2
_TENTH: Final = (0.08, 0.13)
_PLATEAU: Final = 2
_TREES: Final = ("tree", "nvls_tree")


@dataclass(frozen=True)
class Network:
    """The cards that join nodes.

    Parameters
    ----------
    cards : int
        Of a node.
    rate : float
        Bytes per second of each.
    """

    cards: int
    rate: float


def network_of(cluster: Cluster) -> Network | None:
    """Return the network cards of a cluster's nodes, or None if it has none.

    Examples
    --------
    >>> network_of(Cluster.load("dgx-h100", nodes=2))
    Network(cards=8, rate=50000000000.0)
    >>> network_of(Cluster.load("dgx-h100")) is None
    True
    """
    if cluster.nodes == 1:
        return None
    links = cluster.links
    kinds = [links.kind[i] for i, name in enumerate(links.names) if _CARD.fullmatch(name)]
    if not kinds:
        return None
    rate = min(links.classes[kind].bandwidth for kind in kinds)
    return Network(len(kinds) // cluster.nodes, rate)


def of_network(
    row: Compared, sizes: Sequence[Size], tolerance: float, network: Network
) -> list[str]:
    """Return what the largest sizes say, of a row of them and all sizes."""
    top = sizes[-1]
    speeds = _speeds(row, top.nbytes / top.measured)
    whole = network.cards * network.rate
    where = f"at {format_size(top.nbytes)}"
    ring = speeds.get("a ring", 0.0)
    if len(speeds) > 1 and ring > _MOST_OF_CARD * whole:
        said = (
            f"{where} {_rate(ring)} of bus bandwidth is more than the {_rate(whole)} of a "
            f"node's {_cards(network.cards)}: a tree over 2 nodes sends each byte once, a "
            "ring almost twice, so expect this on 2 nodes only"
        )
        return [said]
    if not all(one.ratio > 1 + tolerance for one in sizes[-_PLATEAU:]):
        return []
    return _fewer(speeds, network, where)


def _fewer(speeds: dict[str, float], network: Network, where: str) -> list[str]:
    """Return how many cards would give what leaves a node, and whether all give little."""
    cards, whole = _cards(network.cards), network.cards * network.rate
    counts = {way: _count(speed, network) for way, speed in speeds.items()}
    ways = {way: count for way, count in counts.items() if count is not None}
    used = ", or ".join(f"{count} of {cards} were used by {way}" for way, count in ways.items())
    leaving = " or ".join(_rate(speeds[way]) for way in ways or speeds)
    told = f"{where} {leaving} of {_rate(whole)} leave a node"
    found = [f"as if {used}: {told}"] if ways else []
    shares = [speed / whole for speed in speeds.values()]
    if min(shares) < _FABRIC:
        tenth = all(_TENTH[0] <= share <= _TENTH[1] for share in shares)
        given = "about a tenth" if tenth else " or ".join(f"{share:.0%}" for share in shares)
        more = "" if found else f" ({told})"
        said = (
            f"{'or ' if found else ''}as if the network gave {given} of what its cards allow"
            f"{more}: see whether GPUs reach them directly (GPUDirect RDMA, PCIe access "
            "control) and whether the switches are set up for RDMA"
        )
        found.append(said)
    return found


def _speeds(row: Compared, speed: float) -> dict[str, float]:
    """Return bytes per second that leave a node, by what may have run.

    A ring over all ranks sends what its bus bandwidth counts. Over two nodes a tree of
    all_reduce sends each byte once; over more it sends about what a ring does.
    """
    nodes = row.nodes or 1
    if row.collective == "all_to_all":
        gpus = row.ranks // nodes
        return {"it": gpus * (row.ranks - gpus) / row.ranks * speed}
    ring = {"a ring": collective(row.collective).bus_factor(row.ranks) * speed}
    if row.collective != "all_reduce" or nodes != 2 or row.algorithm == "ring":
        return ring
    tree = {"a tree": collective(row.collective).bus_factor(nodes) * speed}
    return {**tree, **({} if row.algorithm in _TREES else ring)}


def _count(speed: float, network: Network) -> int | None:
    """Return the count of cards that would give a speed, if it is one and not most of them."""
    used = speed / network.rate
    for count in range(1, network.cards // 2 + 1):
        if _LEAST_OF_CARD * count <= used <= _MOST_OF_CARD * count:
            return count
    return None


def _rate(speed: float) -> str:
    return format_bandwidth(float(f"{speed:.3g}"))


def _cards(count: int) -> str:
    return "1 NIC" if count == 1 else f"{count} NICs"
