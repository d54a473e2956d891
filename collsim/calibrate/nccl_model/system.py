"""What is known of a system before anything is measured: NCCL's tables and datasheets."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from collsim.core.cluster import Cluster
from collsim.errors import InputError, UnknownNameError
from collsim.nccl import Communicator, Graph, Tuning, communicator, tuning
from collsim.nccl.families import element_of

__all__ = ["ARCHITECTURES", "Selector", "System", "system_of"]

ARCHITECTURES: Final = {"volta": 70, "ampere": 80, "hopper": 90, "blackwell": 100}
"""Rows of NCCL's tables, and the least compute capability of each."""

# An NVLS channel pulls from a switch at most this fast, GB/s (NCCL 2.30.7
# src/graph/search.cc, speeds of compute capability 90); Blackwell's pull twice as fast.
_NVLS_CHANNEL: Final = {"hopper": 60.0, "blackwell": 120.0}
# All GPUs of a node together: NVLS counts what the switch sends to the GPU's own ring too.
_NVLS_BUS: Final = 4.0 / 3.0
_MOST_HEADS: Final = 32


@dataclass(frozen=True)
class Selector:
    """How NCCL's own table is read: by factors on the bandwidth that it believes in.

    Parameters
    ----------
    scale : float
        On the bandwidth of the whole; 0 takes the fastest fitted piece instead of a table.
    two_nodes : float
        On two nodes NCCL takes the graph's speed inside a node, which may be larger.
    tree_two : float
        On two nodes a tree crosses the network half as often as on more.
    """

    scale: float = 1.0
    two_nodes: float = 1.0
    tree_two: float = 1.0


@dataclass(frozen=True)
class System:
    """What NCCL knows of a system without a measurement.

    Parameters
    ----------
    architecture : str
        Row of NCCL's tables: volta, ampere, hopper, blackwell.
    channels : int
        Channels of NCCL's ring graph.
    intra_bus : float
        GB/s of a node's rings together: channels times their speed.
    inside : str
        What joins the GPUs of a node, ``"nvlink"`` or ``"pci"``.
    inter_bus : float
        GB/s of a node's network cards together; 0 for a single node.
    nvls : bool
        Whether the switches reduce (NVLink SHARP).
    uniform : bool
        Whether all pairs of GPUs have alike links (NVSwitch); not so on a PCIe tree.
    amd : bool
        Whether the CPUs are AMD's, by which NCCL knows the cost of posting to a network.
    ll128_network : bool
        Whether LL128 may cross nodes.
    gpus : int
        GPUs of a node, where it is known; 0 where not.
    version : str
        Release of NCCL whose tables count.

    Examples
    --------
    >>> System("hopper", 12, 360.0, nvls=True).choice("all_reduce", 8, 1, 2**30)
    ('nvls', 'simple')
    """

    architecture: str
    channels: int
    intra_bus: float
    inside: str = "nvlink"
    inter_bus: float = 0.0
    nvls: bool = False
    uniform: bool = True
    amd: bool = False
    ll128_network: bool = True
    gpus: int = 0
    version: str = "2.30"

    def __post_init__(self) -> None:
        if self.architecture not in ARCHITECTURES:
            raise UnknownNameError("architecture", self.architecture, tuple(ARCHITECTURES))
        if self.inside not in ("nvlink", "pci"):
            raise UnknownNameError("link inside a node", self.inside, ("nvlink", "pci"))
        for name in ("channels", "intra_bus"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name}: got {getattr(self, name)!r}, expected above 0")
        if self.inter_bus < 0:
            raise InputError(f"inter_bus: got {self.inter_bus!r}, expected 0 or more")

    @property
    def several(self) -> bool:
        """Whether it has a network between nodes."""
        return self.inter_bus > 0

    def nodes_of(self, ranks: int, nodes: int | None) -> int:
        """Return how many nodes so many ranks take, where nobody says it."""
        if nodes is not None:
            return nodes
        return max(1, -(-ranks // self.gpus)) if self.several and self.gpus else 1

    def table(self, ranks: int, nodes: int, selector: Selector = Selector()) -> Tuning:
        """Return NCCL's table for so many ranks on so many nodes."""
        return _table(self, ranks, nodes, selector)

    def choice(
        self,
        collective: str,
        ranks: int,
        nodes: int,
        nbytes: float,
        selector: Selector = Selector(),
        element: tuple[str, str] = ("float", "sum"),
    ) -> tuple[str, str]:
        """Return the algorithm and the protocol that NCCL chooses for a type and reduction."""
        return _choice(self, (collective, ranks, nodes), int(nbytes), selector, element)

    def pieces(
        self, collective: str, ranks: int, nodes: int, selector: Selector = Selector()
    ) -> tuple[tuple[str, str], ...]:
        """Return every algorithm and protocol that NCCL has there."""
        cells = self.table(ranks, nodes, selector).cells
        return tuple(
            (a, p) for (c, a, p), cell in cells.items() if c == collective and cell.bandwidth
        )


@lru_cache(2**16)
def _choice(
    system: System, where: tuple[str, int, int], size: int, by: Selector, of: tuple[str, str]
) -> tuple[str, str]:
    dtype, op = element_of(where[0], *of)
    found = _table(system, *where[1:], by).choice(where[0], size, dtype=dtype, op=op)
    return found.algorithm, found.protocol


@lru_cache(2**10)
def _table(system: System, ranks: int, nodes: int, selector: Selector) -> Tuning:
    return tuning(_communicator(system, ranks, nodes, selector), system.version)


def _communicator(system: System, ranks: int, nodes: int, selector: Selector) -> Communicator:
    count, gpus, scale = system.channels, max(1, ranks // nodes), selector.scale or 1.0
    bus = system.inter_bus * scale if nodes > 1 else system.intra_bus
    if not system.several:
        bus *= scale
    if nodes > 1 and not system.several:
        raise InputError(f"{nodes} nodes: the system has no network, expected one node")
    at_two = bus * selector.two_nodes if nodes == 2 else bus
    nvlink = system.inside == "nvlink"
    intra = "NVL" if nvlink else "PHB"
    inter = "PIX" if system.ll128_network or nodes == 1 else "SYS"

    def graph(channels: int, near: float, far: float, pattern: int) -> Graph:
        """Return a graph of channels with so many GB/s each."""
        return Graph(channels, near, far, type_intra=intra, type_inter=inter, pattern=pattern)

    tree = at_two * (selector.tree_two if nodes == 2 else 1.0)
    graphs = {
        "ring": graph(count, at_two / count, bus / count, 4),
        "tree": graph(count, tree / count, bus / count, 1),
    }
    if system.nvls and gpus > 1:
        heads = min(gpus, _MOST_HEADS)
        each = min(
            _NVLS_CHANNEL.get(system.architecture, 60.0), system.intra_bus * _NVLS_BUS / heads
        )
        far = bus / heads if nodes > 1 else each
        graphs["nvls"] = graph(heads, each, far, 5)
    return Communicator(
        ranks=ranks,
        nodes=nodes,
        capability=ARCHITECTURES[system.architecture],
        graphs=graphs,
        channels=min(64, 2 * count),
        nvls_channels=16 if "nvls" in graphs else 0,
        cpu_vendor="amd" if system.amd else "intel",
        nvswitch=nvlink and system.uniform,
    )


def system_of(cluster: Cluster, version: str = "2.30") -> System:
    """Return what NCCL knows of one of our clusters.

    Parameters
    ----------
    cluster : Cluster
        Of NVIDIA GPUs; its counts of nodes and GPUs don't matter, whether it has several does.
    version : str
        NCCL's.

    Raises
    ------
    InputError
        If NCCL would not run there, or its search can't be foretold.

    Examples
    --------
    >>> system = system_of(Cluster.load("dgx-a100"))
    >>> system.architecture, system.channels, system.intra_bus, system.several
    ('ampere', 12, 240.0, False)
    """
    inside = communicator(cluster, alone=True)
    ring = inside.graph("ring")
    names = [name for name, least in ARCHITECTURES.items() if inside.capability >= least]
    bus, far = 0.0, ring
    if cluster.nodes > 1:
        far = communicator(cluster).graph("ring")
        bus = far.channels * far.bw_inter
    return System(
        architecture=names[-1],
        channels=ring.channels,
        intra_bus=ring.channels * ring.bw_intra,
        inside="nvlink" if ring.type_intra == "NVL" else "pci",
        inter_bus=bus,
        nvls=inside.nvls_channels > 0,
        uniform=inside.nvswitch or _meshed(cluster),
        ll128_network=_near(cluster, far.type_inter),
        gpus=int(cluster.ranks // cluster.nodes),
        version=version,
    )


def _meshed(cluster: Cluster) -> bool:
    """Return whether a GPU has alike links to all others of its node."""
    links = cluster.links
    kinds = [
        links.kind[i] for i, name in enumerate(links.names) if name.startswith("gpu[0]>gpu[")
    ]
    return len(kinds) == cluster.ranks // cluster.nodes - 1 and len(set(kinds)) == 1


def _near(cluster: Cluster, path: str) -> bool:
    """Return whether cards are near enough to GPUs for LL128, whose stores must arrive whole.

    Slingshot's cards are the CPU's, which a search by shape alone does not see.
    """
    behind = any(link.name.startswith("slingshot") for link in cluster.links.classes)
    return path in ("PIX", "PXB", "PXN") and not behind
