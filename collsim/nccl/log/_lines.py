"""Single lines: channels, graphs, sizes, the matrix of what is enabled."""

import re
from typing import Final

from collsim.errors import CollsimError
from collsim.nccl.communicator import Graph
from collsim.nccl.log._message import Message
from collsim.nccl.log.rows import ChannelCounts, Enabled, Found, GraphLine, Size
from collsim.nccl.names import algorithm_name, collective_name, protocol_name

__all__ = ["MatrixReader", "read_channels", "read_graph", "read_size"]

_CHANNELS: Final = re.compile(
    r"(?P<coll>\d{1,9}) coll channels, (?:(?P<collnet>\d{1,9}) collnet channels, )?"
    r"(?:(?P<nvls>\d{1,9}) nvls channels, )?(?P<p2p>\d{1,9}) p2p channels, "
    r"(?P<peer>\d{1,9}) p2p channels"
)
_GRAPH: Final = re.compile(
    r"Pattern (?P<pattern>\d{1,9}), crossNic (?P<cross>\d{1,9}), nChannels (?P<count>\d{1,9}), "
    r"(?:bw|speed) (?P<intra>[\d.]+)/(?P<inter>[\d.]+), "
    r"type (?P<near>\w+)/(?P<far>\w+), sameChannels (?P<same>[01])"
)
_SIZE: Final = re.compile(
    r"comm (?P<comm>0x[0-9a-f]+) rank (?P<rank>\d{1,9}) nRanks (?P<ranks>\d{1,9}) "
    r"nNodes (?P<nodes>\d{1,9})"
)
_MATRIX: Final = "Enabled NCCL Func/Proto/Algo Matrix:"
_MATRIX_ROW: Final = re.compile(
    r"\s*(?P<name>\w+) \|(?P<protocols>[^|]*)\|(?P<algorithms>[^|]*)"
)


def read_channels(found: Found, message: Message) -> bool:
    """Read how many channels there are."""
    match = _CHANNELS.search(message.text)
    if not match:
        return False

    def maybe(name: str) -> int | None:
        return None if match[name] is None else int(match[name])

    found.channels.append(
        ChannelCounts(
            found.file, message.line, message.source, int(match["coll"]),
            maybe("collnet"), maybe("nvls"), int(match["p2p"]), int(match["peer"]),
        )
    )  # fmt: skip
    return True


def read_graph(found: Found, message: Message) -> bool:
    """Read a graph of the search."""
    if not message.text.startswith("Pattern "):
        return False
    match = _GRAPH.match(message.text)
    try:
        if match is None:
            reason = f"not one of NCCL's lines of a graph: {message.text[:80]}"
            found.problem(message.line, reason)
            return True
        graph = Graph(
            channels=int(match["count"]),
            bw_intra=float(match["intra"]),
            bw_inter=float(match["inter"]),
            type_intra=match["near"],
            type_inter=match["far"],
            same_channels=match["same"] == "1",
            pattern=int(match["pattern"]),
        )
    except (CollsimError, ValueError) as error:
        found.problem(message.line, str(error))
        return True
    row = GraphLine(found.file, message.line, message.source, int(match["cross"]), graph)
    found.graphs.append(row)
    return True


def read_size(found: Found, message: Message) -> bool:
    """Read ranks and nodes of a communicator."""
    match = _SIZE.search(message.text)
    if not match:
        return False
    numbers = (int(match[name]) for name in ("rank", "ranks", "nodes"))
    found.sizes.append(Size(found.file, message.line, message.source, match["comm"], *numbers))
    return True


class MatrixReader:
    """Reads the matrix of what is enabled, whose rows have no prefix.

    Parameters
    ----------
    found : Found
        Where matrices and broken lines go.
    """

    def __init__(self, found: Found) -> None:
        self._found = found
        self._line = 0
        self._names: tuple[list[str], list[str]] | None = None
        self._rows: tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]] = ({}, {})

    def read(self, message: Message) -> bool:
        """Take a message; return whether it is part of a matrix."""
        if _MATRIX in message.text:
            self.finish()
            self._line = message.line
            return True
        if not self._line or not message.bare:
            return False
        match = _MATRIX_ROW.match(message.text)
        if not match:
            if message.text.strip():
                self.finish()
            return False
        try:
            self._take(match)
        except (CollsimError, ValueError) as error:
            self._found.problem(message.line, f"matrix of what is enabled: {error}")
        return True

    def _take(self, match: re.Match[str]) -> None:
        sides = match["protocols"].split(), match["algorithms"].split()
        if match["name"] == "Function":
            self._names = (
                [protocol_name(p) for p in sides[0]],
                [algorithm_name(a) for a in sides[1]],
            )
            return
        if self._names is None:
            raise ValueError("a row before its head")
        name = collective_name(match["name"])
        for rows, names, values in zip(self._rows, self._names, sides, strict=True):
            rows[name] = dict(zip(names, map(int, values), strict=True))

    def finish(self) -> None:
        """Close the matrix."""
        if self._line:
            if self._rows[0]:
                row = Enabled(self._found.file, self._line, *self._rows)
                self._found.enabled.append(row)
            else:
                self._found.problem(self._line, "a matrix of what is enabled without rows")
        self._line, self._names, self._rows = 0, None, ({}, {})
