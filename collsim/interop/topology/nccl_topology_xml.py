"""NCCL topology XML: what NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE reads."""

from collections import Counter
from typing import Final

from collsim.interop.topology._importer import Importer
from collsim.interop.topology._known import (
    GPUS,
    MEMORY,
    NVLINK_ALPHA,
    PCIE_ALPHA,
    nvlink,
    nvlink_name,
)
from collsim.interop.topology._machine import Cable, Machine, Notes, Wire, both_ways, gpu
from collsim.interop.topology._pci import Found, Gpu, read_tree
from collsim.xml_file import parse_xml

__all__ = ["IMPORTER", "read"]

_WHAT: Final = "NCCL topology XML"
_SWITCH: Final = "switch[0]"


def read(file: str, data: bytes) -> Machine:
    """Return the machine that a file describes.

    Parameters
    ----------
    file : str
        The file, for errors.
    data : bytes
        What it holds.

    Raises
    ------
    FileError
        If it is no XML, or a value of it is not what it should be.

    Examples
    --------
    >>> pci = '<pci busid="0{0}:00" class="0x030200" link_speed="16 GT/s" link_width="16"/>'
    >>> text = f"<system><cpu>{pci.format(1)}{pci.format(2)}</cpu></system>"
    >>> machine = read("two.xml", text.encode())
    >>> [cable.name for cable in machine.cables if cable.pays]
    ['gpu[0]>cpu[0]', 'gpu[1]>cpu[0]']
    """
    found = read_tree(parse_xml(file, data))
    gpus, order = _ordered(found.gpus)
    cables = [*_nvlinks(gpus, found), *_plugs(gpus), *found.cables]
    onto = any(_SWITCH in (c.src, c.dst) for c in cables)
    return Machine(
        file=file,
        what=_WHAT,
        labels=tuple(f"GPU {g.bus}" for g in gpus),
        cables=tuple(cables),
        nics=tuple(found.nics),
        notes=_notes(gpus, order, found, onto),
        # NVLink SHARP came with the NVSwitch of Hopper.
        multicast=onto and all((g.sm or 0) >= 90 for g in gpus),
    )


def _ordered(gpus: list[Gpu]) -> tuple[list[Gpu], str]:
    """Return the GPUs in the order of their ranks, and where that is from."""
    ranks = {g.rank for g in gpus}
    if None not in ranks and len(ranks) == len(gpus):
        return sorted(gpus, key=lambda g: g.rank or 0), ""
    devs = {g.dev for g in gpus}
    if None not in devs and len(devs) == len(gpus):
        return sorted(gpus, key=lambda g: g.dev or 0), "the file's dev"
    return sorted(gpus, key=lambda g: (g.host, g.bus)), "bus id, as drivers number GPUs"


def _vertex(rank: int, one: Gpu) -> str:
    """Return where the cables of a rank's GPU begin: its memory, if others share it."""
    return gpu(rank) if one.shared < 0 else f"memory[{one.shared}]"


def _plugs(gpus: list[Gpu]) -> list[Cable]:
    """Return the PCIe link of every GPU, and what ties ranks to a GPU that they share."""
    cables: dict[str, Cable] = {}
    memory = Wire("memory", MEMORY, PCIE_ALPHA)
    for rank, one in enumerate(gpus):
        pairs = [(_vertex(rank, one), one.parent, one.wire)]
        if one.shared >= 0:
            pairs.append((gpu(rank), f"memory[{one.shared}]", memory))
        for pair in pairs:
            cables |= {cable.name: cable for cable in both_ways(*pair)}
    return list(cables.values())


def _nvlinks(gpus: list[Gpu], found: Found) -> list[Cable]:
    """Return the NVLinks, those between the same two vertices as one cable."""
    places = {(g.host, g.bus): _vertex(rank, g) for rank, g in enumerate(gpus)}
    counts: Counter[tuple[str, str]] = Counter()
    sm: dict[str, int | None] = {}
    for rank, one in enumerate(gpus):
        here = _vertex(rank, one)
        if here in sm:
            continue
        sm[here] = one.sm
        for link in one.element.of("nvlink"):
            target = _target(link.text("tclass"), (one.host, link.text("target").lower()))
            there = _SWITCH if target == _SWITCH else places.get((one.host, target), "")
            if there and there != here:
                counts[here, there] += link.whole("count", 1, 1000, 1) or 1
            else:
                what = "a CPU" if target == "cpu" else "what the file does not hold"
                found.left_out[f"NVLinks to {what}"] = None
    # A switch lists nothing, and a file written by hand may list one side only.
    for (a, b), many in list(counts.items()):
        if (b, a) not in counts:
            counts[b, a] = many
            sm.setdefault(b, sm.get(a))
    return [Cable(a, b, _nvlink(sm, a, b, many)) for (a, b), many in counts.items()]


def _target(kind: str, place: tuple[str, str]) -> str:
    if kind.startswith("0x068001"):
        return "cpu"
    return _SWITCH if kind.startswith("0x068") else place[1]


def _nvlink(sm: dict[str, int | None], a: str, b: str, links: int) -> Wire:
    one = sm[b if a == _SWITCH else a]
    return Wire(nvlink_name(one, links), nvlink(one, links), NVLINK_ALPHA)


def _notes(gpus: list[Gpu], order: str, found: Found, onto: bool) -> Notes:
    models = sorted({GPUS[g.device] for g in gpus if g.device in GPUS})
    sms = sorted({g.sm for g in gpus if g.sm is not None})
    what = f"{len(gpus)} GPU{'s' * (len(gpus) != 1)}"
    what += f" ({', '.join(models)})" if models else ""
    what += f" of sm {', '.join(map(str, sms))}" if sms else ""
    parts = [what]
    for many, one in ((found.switches, "PCIe switch"), (len(found.cpus), "CPU")):
        parts.append(f"{many} {one}{('es' if one[-1] == 'h' else 's') * (many != 1)}")
    parts.append(f"{len(found.nics)} network card{'s' * (len(found.nics) != 1)}")
    assumed = list(found.held_back)
    if order and len(gpus) > 1:
        assumed.append(f"ranks in the order of {order}")
    if found.shared:
        assumed.append("what ranks on one GPU exchange is as fast as NCCL takes it to be")
    left_out = list(found.left_out)
    if not any(g.element.tag == "gpu" for g in gpus):
        left_out.append(
            "NVLink, which a file without gpu elements cannot hold: NCCL finds it when it "
            "runs, so GPUs that have it are faster than this; for HGX boards with NVSwitch "
            'write into [node] shape = "switch", gpus and link = "nvlink4" (H100; "nvlink3" '
            "of A100), and leave out its other keys and tables"
        )
    if onto:
        parts.append("NVLinks to NVSwitch")
    return Notes(
        read=(", ".join(parts),),
        assumed=tuple(assumed),
        left_out=tuple(left_out),
        pcie=tuple(found.assumed),
    )


IMPORTER: Final = Importer(
    marks=lambda head: head.startswith("<system"), read=read, summary=_WHAT
)
