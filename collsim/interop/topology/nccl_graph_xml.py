"""NCCL graph XML: the rings and trees that NCCL found, from NCCL_GRAPH_DUMP_FILE.

What a cluster can hold of it: the hops of the ring channels. NCCL splits a message over all
channels, so the channels between two GPUs are one link of their bandwidths together. Pairs
that are no neighbours in any ring pass their messages on from neighbour to neighbour. Trees
use the same cables in turn, not beside the rings, so they are told of and not added.
"""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from collsim.config.links import Number
from collsim.errors import FileError
from collsim.interop.topology._importer import Importer
from collsim.interop.topology._known import NVLINK_ALPHA, PCIE_ALPHA
from collsim.interop.topology._machine import Cable, Machine, Nic, Notes, Wire, gpu
from collsim.xml_file import Element, parse_xml

__all__ = ["IMPORTER", "read"]

_WHAT: Final = "NCCL graph XML"
_PATTERNS: Final = {
    1: "balanced tree", 2: "split tree", 3: "tree", 4: "ring", 5: "NVLS", 6: "CollNet direct",
}  # fmt: skip
_TREES: Final = (1, 2, 3)
_NUMBER: Final = re.compile(r"\d{1,6}(?:\.\d{1,9})?", re.ASCII)
_HEX: Final = re.compile(r"(?:0x)?[0-9a-f]{1,12}", re.ASCII | re.IGNORECASE)
_ORDERS_SHOWN: Final = 8


@dataclass(frozen=True)
class _Graph:
    """One of the graphs: its channels as lists of GPUs, and the cards at their ends."""

    name: str
    pattern: int
    speed: float
    far: float
    kind: str
    channels: list[list[tuple[int, int]]]
    nets: list[tuple[str, str]]


def read(file: str, data: bytes) -> Machine:
    """Return the machine whose links are the channels of a file.

    Parameters
    ----------
    file : str
        The file, for errors.
    data : bytes
        What it holds.

    Raises
    ------
    FileError
        If it is no XML, or has neither a ring nor a tree.

    Examples
    --------
    >>> channel = '<channel><gpu dev="0"/><gpu dev="1"/></channel>'
    >>> graph = f'<graph pattern="4" speedintra="20" typeintra="NVL">{channel * 2}</graph>'
    >>> machine = read("ring.xml", f"<graphs>{graph}</graphs>".encode())
    >>> [(cable.name, cable.wire.bandwidth.value) for cable in machine.cables]
    [('gpu[0]>gpu[1]', 40000000000.0), ('gpu[1]>gpu[0]', 40000000000.0)]
    """
    root = parse_xml(file, data)
    graphs = [_graph(e) for e in ([root] if root.tag == "graph" else root.of("graph"))]
    rings = [g for g in graphs if g.pattern == 4 and g.channels and g.speed > 0]
    trees = [g for g in graphs if g.pattern in _TREES and g.channels and g.speed > 0]
    if not rings and not trees:
        raise FileError(file, f"{_WHAT} without a ring or tree that has channels")
    graph = (rings or trees)[0]
    keys = sorted({key for channel in graph.channels for key in channel})
    number = {key: rank for rank, key in enumerate(keys)}
    return Machine(
        file=file,
        what=_WHAT,
        labels=tuple(f"rank {a}" if a >= 0 else f"GPU {b}" for a, b in keys),
        cables=tuple(_cables(graph, number)),
        nics=tuple(_nics(graph)),
        notes=_notes(graphs, graph, number),
        relays=True,
    )


def _graph(element: Element) -> _Graph:
    pattern = element.whole("pattern", 0, 99, 0) or 0
    channels, nets = [], []
    for channel in element.of("channel"):
        gpus = [_key(e) for e in channel.of("gpu")]
        if len(set(gpus)) != len(gpus):
            raise channel.wrong("lists a GPU twice, expected each once")
        if gpus:
            channels.append(gpus)
            cards = [e.text("dev") for e in channel.of("net")]
            nets.append((cards[0], cards[-1]) if cards else ("", ""))
    return _Graph(
        name=_PATTERNS.get(pattern, "unknown pattern"),
        pattern=pattern,
        speed=_speed(element, "speedintra"),
        far=_speed(element, "speedinter"),
        kind=element.text("typeintra") if element.text("typeintra").isalnum() else "",
        channels=channels,
        nets=nets,
    )


def _key(element: Element) -> tuple[int, int]:
    """Return what tells a GPU from others: its rank, which older files lack, and dev."""
    dev = element.text("dev")
    if not _HEX.fullmatch(dev):
        raise element.refuse("dev", "a hexadecimal number")
    rank = element.whole("rank", 0, 10**9, -1)
    return (-1 if rank is None else rank, int(dev, 16))


def _speed(element: Element, name: str) -> float:
    given = element.text(name, "0")
    if not _NUMBER.fullmatch(given):
        raise element.refuse(name, "GB/s")
    return float(given)


def _hops(graph: _Graph) -> Counter[tuple[tuple[int, int], tuple[int, int]]]:
    hops: Counter[tuple[tuple[int, int], tuple[int, int]]] = Counter()
    for channel, (net, _) in zip(graph.channels, graph.nets, strict=True):
        hops.update(pairwise(channel))
        # A ring with network cards at its ends closes on another node.
        if graph.pattern == 4 and not net and len(channel) > 1:
            hops[channel[-1], channel[0]] += 1
    return hops


def _cables(graph: _Graph, number: dict[tuple[int, int], int]) -> list[Cable]:
    hops = _hops(graph)
    alpha = NVLINK_ALPHA if graph.kind == "NVL" else PCIE_ALPHA
    cables = []
    for a, b in sorted({pair for hop in hops for pair in (hop, hop[::-1])}):
        many = hops[a, b] or hops[b, a]
        rate = many * graph.speed * 1e9
        source = (
            f"{many} {graph.name} channel{'s' * (many != 1)} of {graph.speed:g} GB/s "
            f"({graph.kind or 'no type'}), as NCCL's search found them"
        )
        wire = Wire(
            f"{graph.kind.lower() or 'channel'}x{many}",
            Number(rate, source, "assumption"),
            alpha,
        )
        cables.append(Cable(gpu(number[a]), gpu(number[b]), wire))
    return cables


def _nics(graph: _Graph) -> list[Nic]:
    counts = Counter(out for _, out in graph.nets if out)
    return [
        Nic(
            f"net {dev}",
            Number(
                many * graph.far * 1e9,
                f"{many} {graph.name} channel{'s' * (many != 1)} of {graph.far:g} GB/s, as "
                "NCCL's search found them",
                "assumption",
            )
            if graph.far > 0
            else None,
        )
        for dev, many in sorted(counts.items())
    ]


def _notes(graphs: list[_Graph], used: _Graph, number: dict[tuple[int, int], int]) -> Notes:
    read = []
    for g in graphs:
        if not g.channels:
            continue
        many = len(g.channels)
        line = f"{g.name}: {many} channel{'s' * (many != 1)} of {g.speed:g} GB/s ({g.kind})"
        if any(net for net, _ in g.nets):
            line += f", {g.far:g} GB/s between nodes"
        read.append(line)
    orders = Counter(tuple(number[key] for key in channel) for channel in used.channels)
    for order, many in list(orders.items())[:_ORDERS_SHOWN]:
        ranks = " ".join(map(str, order[:32])) + " ..." * (len(order) > 32)
        read.append(f"order of ranks in {many} of {len(used.channels)} channels: {ranks}")
    if len(orders) > _ORDERS_SHOWN:
        read.append(f"and {len(orders) - _ORDERS_SHOWN} more orders")
    together = (
        "the channels of two neighbours are one link of their bandwidths together: NCCL "
        "splits a message over all channels"
    )
    assumed = [
        together,
        "GPUs that no channel joins pass messages on from neighbour to neighbour",
    ]
    hops = _hops(used)
    if any((b, a) not in hops for a, b in hops):
        assumed.append("a link is as fast in the direction that no channel uses")
    left_out = [
        f"the {g.name}, which uses the same cables in turn"
        for g in graphs
        if g is not used and g.channels
    ]
    return Notes(tuple(read), tuple(assumed), tuple(left_out))


IMPORTER: Final = Importer(
    marks=lambda head: head.startswith(("<graphs", "<graph ", "<graph>")),
    read=read,
    summary=_WHAT,
)
