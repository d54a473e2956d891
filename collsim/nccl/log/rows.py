"""What a debug log of NCCL tells, row by row. Each row knows its file and line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from collsim.nccl.communicator import Graph

__all__ = [
    "ChannelCounts",
    "Chosen",
    "Enabled",
    "Found",
    "GraphLine",
    "PrintedTable",
    "Problem",
    "Size",
]

Key = tuple[str, str, str]
# Characters of a reason; what a damaged line says may be of any length.
_LONGEST: Final = 300


@dataclass(frozen=True)
class PrintedTable:
    """NCCL's table of latencies (microseconds) and algorithm bandwidths (GB/s), as printed.

    Parameters
    ----------
    file, line : str, int
        Where it begins.
    source : str
        Host, process and thread that wrote it.
    layout : str
        ``"blocks"`` since 2.18, ``"wide"`` before.
    cells : mapping
        ``(latency, bandwidth)`` by collective, algorithm and protocol.
    threads : mapping
        Most threads by algorithm and protocol.
    """

    file: str
    line: int
    source: str
    layout: str
    cells: Mapping[Key, tuple[float, float]]
    threads: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Enabled:
    """What NCCL_ALGO and NCCL_PROTO left: 0 off, 1 on, 2 by NCCL's own rule.

    Parameters
    ----------
    file, line : str, int
        Where it begins.
    protocols, algorithms : mapping of str to mapping of str to int
        By collective, then by name.
    """

    file: str
    line: int
    protocols: Mapping[str, Mapping[str, int]]
    algorithms: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class ChannelCounts:
    """Channels of a communicator.

    Parameters
    ----------
    file, line : str, int
        Where.
    source : str
        Host, process and thread.
    collective, p2p, p2p_per_peer : int
        Of collectives, of sends and receives in all, and to one peer.
    collnet, nvls : int, optional
        Of in-network and of in-switch reduction; None where a release does not print them.
    """

    file: str
    line: int
    source: str
    collective: int
    collnet: int | None
    nvls: int | None
    p2p: int
    p2p_per_peer: int


@dataclass(frozen=True)
class GraphLine:
    """A graph of the search, as printed. The latency of the network is not.

    Parameters
    ----------
    file, line : str, int
        Where.
    source : str
        Host, process and thread.
    cross_nic : int
        Whether rings may change cards between nodes (NCCL_CROSS_NIC).
    graph : Graph
        Its numbers.
    """

    file: str
    line: int
    source: str
    cross_nic: int
    graph: Graph


@dataclass(frozen=True)
class Size:
    """Ranks and nodes of a communicator.

    Parameters
    ----------
    file, line : str, int
        Where.
    source : str
        Host, process and thread.
    comm : str
        Address of the communicator, as printed.
    rank : int
        The rank that wrote it.
    ranks, nodes : int
        Of all of it.
    """

    file: str
    line: int
    source: str
    comm: str
    rank: int
    ranks: int
    nodes: int


@dataclass(frozen=True)
class Chosen:
    """What NCCL ran: one line of its log.

    Parameters
    ----------
    file, line : str, int
        Where.
    source : str
        Host, process and thread.
    kind : str
        ``"algorithm"``; ``"symmetric"`` for kernels on registered windows, ``"copy_engine"``
        and ``"hierarchical_copy_engine"`` for copies without kernels.
    collective : str, optional
        Our name; None where a release does not print it (2.20 to 2.22).
    nbytes : int
        Bytes as printed.
    per_rank : bool
        Whether they are a rank's share: from 2.24 on, for all_gather and reduce_scatter.
    ranks : int, optional
        Ranks of the communicator, where the log tells and all agree.
    algorithm, protocol : str, optional
        In the words of the tuner's CSV.
    channels : (int, int), optional
        First and last channel. A collective may fill several lines, one a range of channels.
    time_us : float, optional
        What the model expected (2.20 to 2.23).
    kernel : str, optional
        Of symmetric kernels its name, of copies the way.
    """

    file: str
    line: int
    source: str
    kind: str
    collective: str | None
    nbytes: int
    per_rank: bool
    ranks: int | None = None
    algorithm: str | None = None
    protocol: str | None = None
    channels: tuple[int, int] | None = None
    time_us: float | None = None
    kernel: str | None = None

    @property
    def total_bytes(self) -> int | None:
        """Bytes as nccl-tests counts them; None where the ranks are not known."""
        if not self.per_rank:
            return self.nbytes
        return None if self.ranks is None else self.nbytes * self.ranks


@dataclass(frozen=True)
class Problem:
    """A line that could not be read.

    Parameters
    ----------
    file, line : str, int
        Where.
    reason : str
        Why, with what was got.
    """

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}: {self.reason}"


@dataclass
class Found:
    """Rows while they are gathered."""

    file: str
    tables: list[PrintedTable] = field(default_factory=list)
    enabled: list[Enabled] = field(default_factory=list)
    channels: list[ChannelCounts] = field(default_factory=list)
    graphs: list[GraphLine] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    chosen: list[Chosen] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, line: int, reason: str) -> None:
        """Note a line that could not be read, in no more than a line of text."""
        if len(reason) > _LONGEST:
            reason = reason[: _LONGEST - 3] + "..."
        self.problems.append(Problem(self.file, line, reason))
