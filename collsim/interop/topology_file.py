"""A description of a machine by another tool, as a cluster file of collsim."""

import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from collsim.config.cluster import parse
from collsim.core.arguments import checked
from collsim.core.link import LinkClass
from collsim.errors import FileError
from collsim.files import read_bytes
from collsim.interop.topology._importer import Importer
from collsim.interop.topology._machine import Machine, Notes, Wire
from collsim.interop.topology._network import network_of
from collsim.interop.topology._routes import Routes, find_routes
from collsim.interop.topology._shapes import recognise
from collsim.interop.topology._write import to_toml
from collsim.registry import member, names

__all__ = ["TopologyFile", "import_topology"]

_PACKAGE: Final = "collsim.interop.topology"
_MOST_BYTES: Final = 16 * 2**20
_HEAD: Final = 64 * 2**10
_ALPHA: Final = (
    "start-up times (alpha) are what NCCL takes a step to cost, as no such file has them; "
    "`collsim calibrate fit` learns yours"
)


@dataclass(frozen=True)
class TopologyFile:
    """What came out of a file.

    Parameters
    ----------
    file, format : str
        Its path, and what it is.
    name : str
        Name of the cluster.
    text : str
        The cluster file, TOML.
    ranks : int
        GPUs.
    shape : str
        Name of a shape, or ``"links"`` where it is written link by link.
    links : tuple of (LinkClass, int)
        Classes of links that the cluster file has, and how many of each in one node, one
        direction a link.
    read, assumed, left_out : tuple of str
        Sentences for the reader.
    """

    file: str
    format: str
    name: str
    text: str
    ranks: int
    shape: str
    links: tuple[tuple[LinkClass, int], ...]
    read: tuple[str, ...]
    assumed: tuple[str, ...]
    left_out: tuple[str, ...]


@checked
def import_topology(path: str | os.PathLike[str]) -> TopologyFile:
    """Read a file of another tool, whose format is told by its content.

    NCCL topology XML (dumps, and files written by hand for clouds), NCCL graph XML, and
    the text of ``nvidia-smi topo -m``.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    TopologyFile
        The cluster file as text, and what was read, assumed and left out.

    Raises
    ------
    FileError
        If it can't be read, is of no such format, or says too little to simulate.

    Examples
    --------
    >>> import_topology("/dev/null")
    Traceback (most recent call last):
    collsim.errors.FileError: /dev/null: of no format that collsim imports (NCCL graph XML, ...
    """
    file = os.fspath(path)
    data = read_bytes(file, _MOST_BYTES)
    machine = _unified(_importer(file, data).read(file, data))
    routes = find_routes(machine)
    shape = recognise(machine, routes)
    network = network_of(machine, joinable=shape.name != "links")
    name = _name(file)
    notes = _said(machine, routes, network.reason)
    text = to_toml(machine, name, shape, routes, network, notes)
    # What is counted is what was written.
    node = parse(text, file).links
    links = list(zip(node.classes, np.bincount(node.kind).tolist(), strict=True))
    if network.wire is not None:
        links.append((network.wire.link, 2 * network.nics))
    return TopologyFile(
        file=file,
        format=machine.what,
        name=name,
        text=text,
        ranks=machine.gpus,
        shape=shape.name,
        links=tuple(links),
        read=notes.read,
        assumed=(*notes.assumed, *notes.pcie),
        left_out=notes.left_out,
    )


def _importer(file: str, data: bytes) -> Importer:
    head = _head(data)
    importers = []
    for name in names(_PACKAGE):
        importer = member(_PACKAGE, name, "IMPORTER", "importer")
        if not isinstance(importer, Importer):
            raise TypeError(f"{_PACKAGE}.{name}: IMPORTER must be an Importer")
        if importer.marks(head):
            return importer
        importers.append(importer.summary)
    raise FileError(file, f"of no format that collsim imports ({', '.join(importers)})")


def _head(data: bytes) -> str:
    """Return the beginning as text; of XML from its first tag."""
    # Enough to tell formats apart in any encoding that has ASCII in it.
    start = data[:_HEAD].decode("latin-1")
    text = start.replace("\x00", "").lstrip("\xff\xfe\xef\xbb\xbf \t\r\n")
    if not text.startswith("<"):
        return text
    if len(data) > _HEAD:
        text = data.decode("latin-1").replace("\x00", "")
    place = text.find("<")
    while place >= 0 and text[place + 1 : place + 2] in {"?", "!"}:
        ending = "-->" if text.startswith("<!--", place) else ">"
        closed = text.find(ending, place)
        place = text.find("<", closed) if closed >= 0 else -1
    return text[place : place + _HEAD] if place >= 0 else ""


def _name(file: str) -> str:
    stem = os.path.splitext(os.path.basename(file))[0]
    plain = re.sub(r"[^\w.-]+", "-", stem, flags=re.ASCII).strip("-.")[:60]
    return plain or "imported"


def _unified(machine: Machine) -> Machine:
    """Return the machine with one wire for what is equal, and one name for one wire."""
    known: dict[tuple[str, float, float], Wire] = {}
    taken: Counter[str] = Counter()
    for cable in machine.cables:
        wire = cable.wire
        key = (wire.name, wire.bandwidth.value, wire.alpha.value)
        if key not in known:
            taken[wire.name] += 1
            number = taken[wire.name]
            named = wire if number == 1 else wire._replace(name=f"{wire.name}-{number}")
            known[key] = named
        elif wire.bandwidth.kind == "assumption":
            known[key] = known[key]._replace(bandwidth=wire.bandwidth)
    cables = tuple(
        c._replace(wire=known[c.wire.name, c.wire.bandwidth.value, c.wire.alpha.value])
        for c in machine.cables
    )
    return replace(machine, cables=cables)


def _said(machine: Machine, routes: Routes, no_network: str) -> Notes:
    """Return the notes that count for what was written."""
    used = {cable.name for route in routes.values() for cable in route}
    notes = machine.notes
    left_out = list(notes.left_out)
    idle = [c for c in machine.cables if c.name not in used]
    if machine.gpus > 1 and any(c.wire.name.startswith(("pcie", "smp")) for c in idle):
        if any(c.wire.name.startswith("pcie") for c in machine.cables if c.name in used):
            left_out.append("PCIe links that no message between GPUs crosses")
        else:
            left_out.append("PCIe, which no message between GPUs crosses")
            notes = replace(notes, pcie=())
    if no_network:
        left_out.append(no_network)
    return replace(notes, assumed=(*notes.assumed, _ALPHA), left_out=tuple(left_out))
