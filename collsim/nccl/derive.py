"""A communicator of NCCL from one of our clusters: which graphs its search would find there.

NCCL knows links by their kind, not by what they measure: an NVLink of Hopper is 20.6 GB/s, a
PCIe 4.0 x16 slot 24. So the kind of link, the counts and the shape are taken from the cluster,
the speeds from NCCL's own table, and the search is followed as far as a regular machine allows.
`Communicator.origin` says what was taken and what was assumed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.errors import InputError
from collsim.nccl._search import Node, nvls_graph, ring_graph, tree_graph
from collsim.nccl.communicator import Communicator, limits

__all__ = ["communicator"]

# Generation: capability, GB/s of a link to NCCL, GB/s on the datasheet, links of a GPU.
# NCCL 2.30.7 src/graph/topo.h, lines 17-24; NVIDIA's datasheets.
_NVLINKS: Final = {
    2: (70, 20.0, 25.0, 6),
    3: (80, 20.0, 25.0, 12),
    4: (90, 20.6, 25.0, 18),
    5: (100, 40.1, 50.0, 18),
}
# PCIe generation: capability taken, GB/s of x16 to NCCL: 16 lanes x speed / 80,
# src/graph/topo.cc, lines 545-556 and 649-658.
_PCIES: Final = {3: (70, 12.0), 4: (80, 24.0), 5: (90, 48.0)}
# The slot of a card, by the GPU's capability.
_SLOTS: Final = {0: 12.0, 80: 24.0, 90: 48.0}
_FAST_SLOT: Final = 96.0
_NVLINK: Final = re.compile(r"nvlink(\d)(-single)?(?:x(\d+))?", re.ASCII)
_PCIE: Final = re.compile(r"pcie(\d)(?:-?x16)?", re.ASCII)
# Log 001 of the public measurements: "NET/OFI Internode latency set at 75.0 us".
_EFA_LATENCY: Final = 75.0
_INTEL_P2P: Final = 6 / 5


@dataclass(frozen=True)
class _Inside:
    """How the GPUs of a node are joined."""

    what: str
    capability: int
    gpu: float
    links: tuple[float, ...]
    type_intra: str
    nvlink: bool
    switch: bool
    between: float = float("inf")


@checked
def communicator(
    cluster: Cluster,
    *,
    capability: int | None = None,
    cpu_arch: str = "x86_64",
    cpu_vendor: str = "intel",
    environment: Mapping[str, str] | None = None,
    alone: bool = False,
) -> Communicator:
    """Return what NCCL would know of a cluster.

    Parameters
    ----------
    cluster : Cluster
        Of NVIDIA GPUs, joined by NVLink or PCIe, all nodes alike.
    capability : int, optional
        Compute capability; by default that of the generation of the links.
    cpu_arch, cpu_vendor : str
        Of the CPUs, which a cluster does not tell.
    environment : mapping of str to str, optional
        NCCL_* variables.
    alone : bool
        Of one of its nodes only.

    Returns
    -------
    Communicator
        With the graphs that NCCL's search would find.

    Raises
    ------
    InputError
        If NCCL would not run there, or the search can't be foretold.

    Examples
    --------
    >>> comm = communicator(Cluster.load("dgx-h100"))
    >>> comm.graphs["ring"].channels, comm.graphs["ring"].bw_intra, comm.channels
    (12, 30.0, 24)
    >>> communicator(Cluster.load("mi300x"))
    Traceback (most recent call last):
    ...
    collsim.errors.InputError: mi300x: its GPUs are joined by xgmi4, and NCCL runs on NVIDIA's
    """
    sizes = np.bincount(cluster.node)
    if len(set(sizes.tolist())) > 1:
        raise InputError(f"{cluster.name}: nodes of different size, expected all alike")
    gpus, nodes = int(sizes[0]), 1 if alone else int(sizes.size)
    inside = _inside(cluster, gpus)
    level = capability or inside.capability
    if not 0 < level < 1000:
        raise InputError(f"capability: got {level!r}, expected one such as 90")
    cards, card, network, latency = _network(cluster, nodes, level)
    apart = inside.type_intra in {"PHB", "SYS"} and cpu_vendor == "intel"
    node = Node(
        gpus=gpus,
        capability=level,
        gpu=inside.gpu,
        links=inside.links,
        between=inside.between,
        through_cpu=_INTEL_P2P if apart else 1.0,
        cards=cards,
        card=card,
        shared=not inside.nvlink,
        type_intra=inside.type_intra if gpus > 1 else "LOC",
        type_inter=_type_inter(inside, gpus, cards),
        latency=latency,
    )
    ring = ring_graph(node)
    if not ring.channels:
        raise InputError(f"{cluster.name}: no ring fits, even at NCCL's lowest speed")
    graphs = {"ring": ring, "tree": tree_graph(node, ring)}
    nvls = 0
    environment = environment or {}
    on = environment.get("NCCL_NVLS_ENABLE", "2") != "0"
    if on and cluster.multicast and level >= 90 and gpus > 1:
        graphs["nvls"] = nvls_graph(node)
        least, most = limits(environment)
        nvls = max(least, min(_nvls_channels(level, nodes, gpus, card), most))
        nvls = nvls if graphs["nvls"].channels else 0
    return Communicator(
        ranks=gpus * nodes,
        nodes=nodes,
        capability=level,
        graphs=graphs,
        nvls_channels=nvls,
        cpu_arch=cpu_arch,
        cpu_vendor=cpu_vendor,
        nvswitch=inside.switch,
        environment=environment,
        origin=_origin(cluster, inside, network, level, capability),
    )


def _origin(
    cluster: Cluster, inside: _Inside, network: str, level: int, asked: int | None
) -> tuple[str, ...]:
    how = "as given" if asked else "that of its links"
    return (
        f"{cluster.name}: {inside.what}, {inside.gpu:g} GB/s out of a GPU in NCCL's reckoning",
        f"compute capability {level}, {how}",
        *([network] if network else []),
        "channels and speeds as NCCL's search finds them where all GPUs are alike",
        "assumed: no collective network, CUDA 12.1 or later, no NCCL plugin",
    )


def _classes(cluster: Cluster, names: re.Pattern[str]) -> list[LinkClass]:
    """Return the class of every link whose name matches."""
    links = cluster.links
    return [
        links.classes[links.kind[i]]
        for i, name in enumerate(links.names)
        if names.fullmatch(name)
    ]


_UP: Final = re.compile(r"gpu\[\d+\]\.up")
_PAIR: Final = re.compile(r"gpu\[0\]>gpu\[\d+\]")
_SOCKETS: Final = re.compile(r"socket\[\d+\]>socket\[\d+\]")
_CARD: Final = re.compile(r"nic\[\d+\]\.up")


def _inside(cluster: Cluster, gpus: int) -> _Inside:
    ups, pairs = _classes(cluster, _UP), _classes(cluster, _PAIR)
    if cluster.uniform is not None and not ups:
        raise InputError(
            f"{cluster.name}: {cluster.shape} has no GPUs and cables that NCCL could find; "
            "take a cluster of machines, such as dgx-h100"
        )
    found = ups[:1] or pairs
    if not found and gpus == 1:
        raise InputError(f"{cluster.name}: a single GPU a node tells nothing of its links")
    if not found:
        raise InputError(f"{cluster.name}: its links do not tell how GPUs are joined")
    nvlinks = [_nvlink(link) for link in found]
    known = [nvlink for nvlink in nvlinks if nvlink]
    if len(known) == len(found):
        level = known[0][0]
        rates = tuple(rate for _, rate in known)
        what = f"NVLink of generation {_NVLINK.match(found[0].name)[1]}"  # type: ignore[index]
        switch = bool(ups)
        return _Inside(what, level, sum(rates), rates, "NVL", nvlink=True, switch=switch)
    match = _PCIE.fullmatch(found[0].name)
    if match and int(match[1]) in _PCIES and ups:
        level, rate = _PCIES[int(match[1])]
        kind, between = _pcie_paths(cluster)
        what = f"PCIe {match[1]}.0"
        return _Inside(
            what, level, rate, (rate,), kind, nvlink=False, switch=False, between=between
        )
    raise InputError(
        f"{cluster.name}: its GPUs are joined by {found[0].name}, and NCCL runs on NVIDIA's"
    )


def _nvlink(link: LinkClass) -> tuple[int, float] | None:
    """Return capability and NCCL's GB/s of a class of NVLinks."""
    match = _NVLINK.fullmatch(link.name)
    if not match or int(match[1]) not in _NVLINKS:
        return None
    level, each, datasheet, most = _NVLINKS[int(match[1])]
    if match[3]:
        count = int(match[3])
    elif match[2]:
        count = 1
    else:
        # A fitted bandwidth says nothing of the cables; a part of them would.
        count = round(link.bandwidth / 1e9 / datasheet)
        count = most if count >= most // 2 else max(count, 1)
    return level, each * count


def _pcie_paths(cluster: Cluster) -> tuple[str, float]:
    kinds = [name.partition("[")[0] for name in cluster.devices]
    per_node = {kind: kinds.count(kind) // cluster.nodes for kind in set(kinds)}
    if per_node.get("socket", 0) > 1:
        between = _classes(cluster, _SOCKETS)
        return "SYS", between[0].bandwidth / 1e9 if between else float("inf")
    if per_node.get("bridge", 0) > 1:
        return "PHB", float("inf")
    return ("PXB" if per_node.get("switch", 0) > 1 else "PIX"), float("inf")


def _network(cluster: Cluster, nodes: int, level: int) -> tuple[int, float, str, float]:
    """Return cards of a node, GB/s of each, a sentence, and the plugin's latency."""
    if nodes == 1:
        return 0, 0.0, "", 0.0
    cards = _classes(cluster, _CARD)
    if not cards:
        raise InputError(f"{cluster.name}: no network card joins its nodes")
    count, rate = len(cards) // nodes, cards[0].bandwidth / 1e9
    slot = _SLOTS[max(least for least in _SLOTS if level >= least)]
    if rate > slot and level >= 100:
        slot = _FAST_SLOT
    efa = cards[0].name.startswith("efa")
    told = (
        f"{count} cards {cards[0].name} a node, {min(rate, slot):g} GB/s each with their slot"
    )
    if efa:
        told += f", {_EFA_LATENCY:g} us as its plugin tells"
    return count, min(rate, slot), told, _EFA_LATENCY if efa else 0.0


def _type_inter(inside: _Inside, gpus: int, cards: int) -> str:
    """Return the path to the card: beside its GPU, or beyond a switch, a GPU or a CPU."""
    if not inside.nvlink:
        return inside.type_intra if inside.type_intra in {"PHB", "SYS"} else "PXB"
    if not cards or cards >= gpus:
        return "PIX"
    return "PXB" if 2 * cards >= gpus else "PXN"


def _nvls_channels(level: int, nodes: int, gpus: int, card: float) -> int:
    """Return channels of NVLS. NCCL 2.30.7 src/transport/nvls.cc, lines 155-238."""
    if level < 100:
        return 16
    if nodes == 1:
        return 24
    if nodes == 2 and card >= 48:
        return 32
    return 24 if card >= 48 and (card < 96 or gpus <= 8) else 32
