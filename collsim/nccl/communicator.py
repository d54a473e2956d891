"""What NCCL knows of a communicator when it fills its tables: sizes, machine, graphs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from collsim.core.arguments import checked
from collsim.errors import InputError, UnknownNameError
from collsim.nccl.names import path_rank

__all__ = ["NO_GRAPH", "Communicator", "Graph", "limits"]

# Which search's graph an algorithm uses. NCCL 2.30.7 src/init.cc, line 980.
_GRAPHS: Final = {
    "tree": "tree",
    "ring": "ring",
    "collnet_direct": "collnet_direct",
    "collnet_chain": "collnet_chain",
    "nvls": "nvls",
    "nvls_tree": "nvls",
    "pat": "tree",
}
_NAMES: Final = ("ring", "tree", "collnet_chain", "nvls", "collnet_direct")
_ARCHES: Final = ("x86_64", "arm64", "ppc64")
_VENDORS: Final = ("intel", "amd", "zhaoxin", "mixed", "")


@checked
@dataclass(frozen=True)
class Graph:
    """What NCCL's search found for one pattern, before channels are doubled.

    Parameters
    ----------
    channels : int
        Channels of the search (nChannels).
    bw_intra, bw_inter : float
        GB/s of a channel inside a node, and between nodes.
    latency_inter : float
        Microseconds of the network, as its plugin tells.
    type_intra, type_inter : str
        Kind of path inside a node, and to the card: NVL, PIX, PXB, PXN, PHB, SYS, ...
    same_channels : bool
        Whether all channels are in the same order.
    pattern : int
        1 balanced tree, 2 split tree, 3 tree, 4 ring, 5 NVLS, 6 CollNet direct.

    Examples
    --------
    >>> Graph(channels=12, bw_intra=30, bw_inter=30, type_intra="NVL").channels
    12
    """

    channels: int
    bw_intra: float
    bw_inter: float
    latency_inter: float = 0.0
    type_intra: str = "LOC"
    type_inter: str = "PIX"
    same_channels: bool = True
    pattern: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.channels <= 64:
            raise InputError(f"graph: channels is {self.channels}, expected 0 to 64")
        for name in ("bw_intra", "bw_inter", "latency_inter"):
            value = getattr(self, name)
            if not (math.isfinite(value) and 0 <= value <= 1e6):
                raise InputError(f"graph: {name} is {value}, expected 0 to 1e6")
        path_rank(self.type_intra)
        path_rank(self.type_inter)


# The graph of a search that did not run.
NO_GRAPH: Final = Graph(0, 0.0, 0.0, type_inter="LOC", same_channels=False)


@checked
@dataclass(frozen=True)
class Communicator:
    """A communicator, as far as NCCL's choice depends on it.

    Parameters
    ----------
    ranks, nodes : int
        Ranks in all, and nodes as NCCL counts them (a rack of one NVLink domain is one).
    capability : int
        Least compute capability, such as 90.
    graphs : mapping of str to Graph
        By name: ring, tree, and where they were searched nvls, collnet_direct, collnet_chain.
    channels : int, optional
        Channels that collectives may use (comm->nChannels); by default twice those of the
        rings and trees, twice again on Hopper and later over nodes with fewer than 16 and fast
        rings, as NCCL 2.30.7 src/graph/connect.cc does, lines 457-505.
    nvls_channels : int
        Channels of NVLS; 0 where in-switch reduction is not supported.
    most_capability : int, optional
        Largest compute capability, where GPUs differ.
    cpu_arch : str
        x86_64, arm64 or ppc64.
    cpu_vendor : str
        intel, amd, zhaoxin, mixed or empty.
    collnet : bool
        Whether a collective network (in-network reduction) is enabled.
    collnet_heads : int
        Ranks of a node with a card of their own for it.
    nvswitch : bool
        Whether nodes have NVSwitches.
    most_local_ranks : int, optional
        Ranks of the largest node.
    environment : mapping of str to str
        NCCL_* variables that were set: NCCL_ALGO, NCCL_PROTO, NCCL_PAT_ENABLE,
        NCCL_NET_OVERHEAD, NCCL_NTHREADS, NCCL_LL128_NTHREADS, NCCL_THREAD_THRESHOLDS,
        NCCL_LL128_C2C; NCCL_MIN_CTAS and NCCL_MAX_CTAS (also _NCHANNELS) for `channels`.
    origin : tuple of str
        Where the numbers come from, in sentences.

    Examples
    --------
    >>> ring = Graph(channels=12, bw_intra=30, bw_inter=30, type_intra="NVL", pattern=4)
    >>> Communicator(8, 1, 90, {"ring": ring, "tree": ring}).channels
    24
    """

    ranks: int
    nodes: int
    capability: int
    graphs: Mapping[str, Graph]
    channels: int = 0
    nvls_channels: int = 0
    most_capability: int = 0
    cpu_arch: str = "x86_64"
    cpu_vendor: str = "intel"
    collnet: bool = False
    collnet_heads: int = 0
    nvswitch: bool = True
    most_local_ranks: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    origin: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= self.ranks:
            raise InputError(f"{self.nodes} nodes for {self.ranks} ranks, expected 1 to a rank")
        if not 0 < self.capability < 1000:
            raise InputError(f"compute capability {self.capability}, expected one such as 90")
        for name in self.graphs:
            if name not in _NAMES:
                raise UnknownNameError("graph", name, _NAMES)
        for what, value, known in (
            ("CPU architecture", self.cpu_arch, _ARCHES),
            ("CPU vendor", self.cpu_vendor, _VENDORS),
        ):
            if value not in known:
                raise UnknownNameError(what, value, known)
        set_ = object.__setattr__
        set_(self, "graphs", MappingProxyType(dict(self.graphs)))
        set_(self, "environment", MappingProxyType(dict(self.environment)))
        set_(self, "most_capability", self.most_capability or self.capability)
        set_(self, "most_local_ranks", self.most_local_ranks or -(-self.ranks // self.nodes))
        set_(self, "channels", self.channels or self._all_channels())

    @checked
    def graph(self, algorithm: str) -> Graph:
        """Return the graph that an algorithm uses.

        Parameters
        ----------
        algorithm : str
            In the words of the tuner's CSV.

        Returns
        -------
        Graph
            Of the search that it uses; one of no channel where there was none.

        Examples
        --------
        >>> one = Graph(12, 30, 30, type_intra="NVL", pattern=4)
        >>> Communicator(8, 1, 90, {"ring": one, "tree": one}).graph("pat").channels
        12
        """
        return self.graphs.get(_GRAPHS[algorithm], NO_GRAPH)

    def _all_channels(self) -> int:
        ring, tree = self.graph("ring"), self.graph("tree")
        count = min(64, 2 * min(ring.channels, tree.channels))
        if self.capability >= 90 and self.nodes > 1 and ring.bw_intra > 45 and count < 16:
            count *= 2
        least, most = limits(self.environment)
        return max(least, min(count, most), 1)


def limits(environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the least and most channels that a user asks for.

    Examples
    --------
    >>> limits({"NCCL_MAX_CTAS": "8"})
    (0, 8)
    """
    found = [0, 64]
    for place, word in enumerate(("MIN", "MAX")):
        # The newest name counts.
        for name in (f"NCCL_{word}_NRINGS", f"NCCL_{word}_NCHANNELS", f"NCCL_{word}_CTAS"):
            text = environment.get(name)
            if text is None:
                continue
            if not (text.isascii() and text.isdigit() and len(text) < 10):
                raise InputError(f"{name}={text}: expected a whole number")
            if int(text):
                found[place] = min(int(text), 64)
    return found[0], found[1]
