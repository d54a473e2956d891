"""The PCI tree of an NCCL topology file: GPUs, switches, CPUs and network cards."""

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from collsim.config.links import Number
from collsim.interop.topology._known import PCIE_ALPHA, between_cpus, pcie, pcie_speed
from collsim.interop.topology._machine import MOST_GPUS, Cable, Nic, Wire, both_ways
from collsim.xml_file import Element

__all__ = ["Found", "Gpu", "read_tree"]

# NCCL's readings of what a file leaves out.
_SPEED, _WIDTH = 8.0, 16
_KNOWN: Final = {"cpu", "pci", "gpu", "nvlink", "c2c", "nic", "net", "pcilink", "system"}
_WORD: Final = re.compile(r"[\w.:-]{1,40}")


@dataclass
class Gpu:
    """A GPU, or a rank's share of one.

    Parameters
    ----------
    element : Element
        The ``gpu``, or the ``pci`` where a file has only that.
    bus, device, host : str
        Bus id, PCI device id, and hash of its host.
    parent : str
        Vertex above it in the PCI tree.
    wire : Wire
        Its PCIe link.
    rank, dev, sm : int, optional
        Rank, index and compute capability, where the file says.
    shared : int
        Number of the GPU among those that several ranks share; -1 if it is one rank's.
    """

    element: Element
    bus: str
    device: str
    host: str
    parent: str
    wire: Wire
    rank: int | None
    dev: int | None
    sm: int | None
    shared: int = -1


@dataclass
class Found:
    """What was found in the tree."""

    gpus: list[Gpu] = field(default_factory=list)
    nics: list[Nic] = field(default_factory=list)
    cables: list[Cable] = field(default_factory=list)
    cpus: list[tuple[str, Element]] = field(default_factory=list)
    switches: int = 0
    shared: int = 0
    assumed: dict[str, None] = field(default_factory=dict)
    held_back: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)


def read_tree(root: Element) -> Found:
    """Return what the elements below ``system`` describe.

    Raises
    ------
    FileError
        If a number is none, or a bus id occurs twice.
    """
    found = Found()
    strange = {e.tag for e in root.walk() if e.tag not in _KNOWN}
    for tag in sorted(strange)[:5]:
        shown = tag if _WORD.fullmatch(tag) else "of a strange name"
        found.left_out[f"elements {shown}, which NCCL does not write"] = None
    cpus = list(root.of("cpu"))
    if len(cpus) > MOST_GPUS:
        raise root.wrong(f"holds {len(cpus)} CPUs, expected at most {MOST_GPUS}")
    for number, cpu in enumerate(cpus):
        vertex = f"cpu[{number}]"
        found.cpus.append((vertex, cpu))
        _below(cpu, vertex, cpu.text("host_hash"), found)
    # A file written by hand may have no CPU around its devices.
    if any(True for _ in root.of("pci", "nic")):
        _below(root, f"cpu[{len(found.cpus)}]", "", found)
    _join_cpus(found)
    return found


def _below(top: Element, vertex: str, host: str, found: Found) -> None:
    waiting = deque([(top, vertex)])
    while waiting:
        above, parent = waiting.popleft()
        for child in above.children:
            if child.tag == "nic":
                _nic(child, None, found)
            elif child.tag == "pci":
                kind = child.text("class").lower()
                if kind.startswith("0x03") or any(True for _ in child.of("gpu")):
                    _gpu(child, parent, host, found)
                elif kind.startswith("0x02"):
                    _nic(child, _link(child, found), found)
                elif any(True for _ in child.of("pci", "nic")):
                    waiting.append((child, _switch(child, parent, host, found)))


def _switch(pci: Element, parent: str, host: str, found: Found) -> str:
    _once(pci, host, found)
    vertex = f"pcie[{found.switches}]"
    found.switches += 1
    wire = _link(pci, found)
    if wire.bandwidth.value < 1e9:
        found.assumed[
            f"a bridge is as slow as it says, {wire.name}: those that a virtual machine "
            "emulates say that, and NCCL believes them"
        ] = None
    found.cables += both_ways(vertex, parent, wire)
    return vertex


def _gpu(pci: Element, parent: str, host: str, found: Found) -> None:
    _once(pci, host, found)
    wire = _link(pci, found)
    many = list(pci.of("gpu")) or [pci]
    shared = -1
    if len(many) > 1:
        shared = found.shared
        found.shared += 1
    for element in many:
        mine = [element] if element.tag == "gpu" else []
        found.gpus.append(
            Gpu(
                element=element,
                bus=pci.text("busid").lower(),
                device=pci.text("device").lower(),
                host=host,
                parent=parent,
                wire=wire,
                rank=next((e.whole("rank", 0, 10**9) for e in mine), None),
                dev=next((e.whole("dev", 0, 10**9) for e in mine), None),
                sm=next((e.whole("sm", 10, 999) for e in mine), None),
                shared=shared,
            )
        )


def _once(pci: Element, host: str, found: Found) -> None:
    """Refuse a bus id that has been there: a block that was pasted twice."""
    bus = pci.text("busid").lower()
    if not bus:
        raise pci.wrong("busid is missing")
    if (host, bus) in found.seen:
        raise pci.refuse("busid", "one that no other device has")
    found.seen.add((host, bus))


def _nic(element: Element, wire: Wire | None, found: Found) -> None:
    nets = [net for net in element.walk() if net.tag == "net"]
    for net in nets:
        name = net.text("name") or f"net {len(found.nics)}"
        mega = net.whole("speed", -1, 10**8, 0) or 0
        if mega <= 0:
            found.nics.append(Nic(name, None))
            continue
        rate = mega * 1e6 / 8
        bandwidth = Number(rate, f"{mega:,} Mb/s of {name}".replace(",", " "), "datasheet")
        if wire is not None and wire.bandwidth.value < rate:
            found.held_back[f"{name} is held back by its own {wire.name} link"] = None
            bandwidth = wire.bandwidth
        found.nics.append(Nic(name, bandwidth))
    if not nets and element.tag == "pci":
        found.nics.append(Nic(element.text("busid"), None))


def _link(pci: Element, found: Found) -> Wire:
    """Return the PCIe link above a device."""
    speed = pcie_speed(pci.text("link_speed"))
    width = pci.whole("link_width", 0, 32, 0) or 0
    missing = []
    if speed is None:
        missing.append(f"{_SPEED:g} GT/s")
    if not width:
        missing.append(f"{_WIDTH} lanes")
    if missing:
        what = f"{' and '.join(missing)} of PCIe where the file has none, as NCCL does"
        found.assumed[what] = None
    assumed = f"{' and '.join(missing)} assumed, as NCCL does" if missing else ""
    name, bandwidth = pcie(speed or _SPEED, width or _WIDTH, assumed)
    return Wire(name, bandwidth, PCIE_ALPHA)


def _join_cpus(found: Found) -> None:
    """Join the CPUs of each host, each with each, as NCCL does."""
    for i, (a, one) in enumerate(found.cpus):
        vendor, arch = one.text("vendor"), one.text("arch")
        family, model = (one.whole(k, 0, 10**6, 0) or 0 for k in ("familyid", "modelid"))
        wire = Wire("smp", between_cpus(vendor, arch, family, model), PCIE_ALPHA)
        for b, other in found.cpus[i + 1 :]:
            if one.text("host_hash") == other.text("host_hash"):
                found.cables += both_ways(a, b, wire)
