"""The text of ``nvidia-smi topo -m``, old and new, raw or pasted."""

import codecs
import re
from collections import Counter
from itertools import combinations
from typing import Final

from collsim.errors import FileError
from collsim.interop.topology._importer import Importer
from collsim.interop.topology._known import NVLINK_ALPHA, NVLINK_MOST, nvlink, nvlink_name
from collsim.interop.topology._machine import Cable, Machine, Nic, Notes, Wire, both_ways, gpu
from collsim.interop.topology._matrix import Matrix, read_matrix
from collsim.interop.topology._steps import join_steps

__all__ = ["IMPORTER", "decode", "read"]

_WHAT: Final = "nvidia-smi topo -m"
_SWITCH: Final = "switch[0]"
_ROW: Final = re.compile(
    r"^[\s\x1b\[\d;m]{0,40}GPU\d{1,4}\s.{0,2000}?\b(?:X|SYS|SOC|NODE|PHB|PXB|PIX|NV\d)",
    re.MULTILINE,
)


def read(file: str, data: bytes) -> Machine:
    r"""Return the machine that a table describes.

    Parameters
    ----------
    file : str
        The file, for errors.
    data : bytes
        What it holds.

    Raises
    ------
    FileError
        If there is no table, or it does not say how two GPUs are joined.

    Examples
    --------
    >>> text = b"GPU0 GPU1 CPU Affinity\nGPU0 X NV4 0-7\nGPU1 NV4 X 0-7"
    >>> [(c.name, c.wire.name) for c in read("two.txt", text).cables if "cpu" not in c.name]
    [('gpu[0]>gpu[1]', 'nvlinkx4'), ('gpu[1]>gpu[0]', 'nvlinkx4')]
    """
    matrix = read_matrix(file, decode(data))
    gpus = matrix.gpus
    if len(gpus) == 1:
        raise FileError(
            file,
            f"{_WHAT} of one GPU tells no speed of any link, so there is nothing to "
            "simulate; expected two GPUs, or an NCCL topology dump, which has speeds",
        )
    links = _links(matrix)
    for (a, b), many in links.items():
        if not 1 <= many <= NVLINK_MOST:
            raise FileError(
                file,
                f"{a} to {b} is NV{many}, expected NV1 to NV{NVLINK_MOST}: no GPU has more",
            )
    row = {a: sum(links.get((a, b), 0) for b in gpus) for a in gpus}
    onto = max(row.values()) > NVLINK_MOST
    cables = _onto_switch(gpus, links) if onto else _direct(gpus, links)
    most = max(links.values()) if onto else max(row.values())
    cables, notes = join_steps(matrix, cables, most)
    return Machine(
        file=file,
        what=_WHAT,
        labels=gpus,
        cables=tuple(cables),
        nics=tuple(Nic(name, None) for name in matrix.nics),
        notes=_notes(matrix, links, onto) + notes,
    )


def decode(data: bytes) -> str:
    r"""Return the text of a file, whatever a terminal or an editor wrote.

    Examples
    --------
    >>> decode("GPU0".encode("utf-16")), decode(b"GPU0 \xb5")
    ('GPU0', 'GPU0 \ufffd')
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _links(matrix: Matrix) -> dict[tuple[str, str], int]:
    """Return how many NVLinks every ordered pair has, where it has any."""
    return {
        (a, b): int(cell[2:])
        for (a, b), cell in matrix.cells.items()
        if cell.startswith("NV") and a in matrix.gpus and b in matrix.gpus
    }


def _wire(many: int) -> Wire:
    return Wire(nvlink_name(None, many), nvlink(None, many), NVLINK_ALPHA)


def _direct(gpus: tuple[str, ...], links: dict[tuple[str, str], int]) -> list[Cable]:
    return [
        Cable(gpu(a), gpu(b), _wire(links[gpus[a], gpus[b]]))
        for a in range(len(gpus))
        for b in range(len(gpus))
        if links.get((gpus[a], gpus[b]), 0)
    ]


def _onto_switch(gpus: tuple[str, ...], links: dict[tuple[str, str], int]) -> list[Cable]:
    """Return the cables to NVSwitch: a pair's cell shows all links of a GPU."""
    cables: list[Cable] = []
    for rank, name in enumerate(gpus):
        many = max(links.get((name, other), 0) for other in gpus)
        if many:
            cables += both_ways(gpu(rank), _SWITCH, _wire(many))
    return cables


def _notes(matrix: Matrix, links: dict[tuple[str, str], int], onto: bool) -> Notes:
    cells = Counter(matrix.cells[pair] for pair in combinations(matrix.gpus, 2))
    pairs = ", ".join(f"{many} {cell}" for cell, many in sorted(cells.items()))
    read = [f"{len(matrix.gpus)} GPUs; of their pairs {pairs}"]
    if matrix.nics:
        cards = len(matrix.nics)
        listed = ", ".join(matrix.nics[:16])
        read.append(f"{cards} network card{'s' * (cards != 1)}: {listed}")
    assumed = []
    if matrix.mended:
        what = "cell is" if matrix.mended == 1 else "cells are"
        assumed.append(f"{matrix.mended} missing {what} as on the other side of the diagonal")
    if links:
        assumed.append("an NVLink has 25 GB/s each way: the table does not say which it is")
    if onto:
        assumed.append(
            f"GPUs hang on NVSwitch, as no GPU has more than {NVLINK_MOST} NVLinks; it can't "
            "multicast, which that of H100 and later can (multicast = true)"
        )
    left_out = ["the affinity of CPUs and memory"]
    if matrix.more:
        left_out.append("a second table")
    return Notes(tuple(read), tuple(assumed), tuple(left_out))


IMPORTER: Final = Importer(
    marks=lambda head: _ROW.search(head) is not None, read=read, summary=_WHAT
)
