"""The PCIe tree behind the words PIX, PXB, PHB, NODE and SYS of ``nvidia-smi``."""

from collections.abc import Callable
from itertools import combinations
from typing import Final

from collsim.config.links import Number
from collsim.interop.topology._known import PCIE_ALPHA, pcie
from collsim.interop.topology._machine import Cable, Notes, Wire, both_ways, gpu
from collsim.interop.topology._matrix import Matrix

__all__ = ["join_steps"]

# Links of the GPUs of a generation: the speed of the PCIe they came with, and which it is.
_PCIE: Final = {18: 32.0, 12: 16.0, 6: 8.0, 4: 8.0}
_SMP: Final = Number(
    16e9, "NCCL 2.30.7 src/graph/topo.h: AMD_BW; the table names no CPU", "assumption"
)


def join_steps(matrix: Matrix, fast: list[Cable], links: int) -> tuple[list[Cable], Notes]:
    """Return all cables: those given, and a PCIe tree that has the distances of a table.

    Parameters
    ----------
    matrix : Matrix
        The table.
    fast : list of Cable
        NVLinks.
    links : int
        NVLinks of a GPU, which hint at its generation.

    Returns
    -------
    cables : list of Cable
        GPUs under PCIe switches (PIX), these under others (PXB), under a CPU (PHB and
        NODE: nothing inside a CPU is slower than PCIe), and CPUs joined (SYS).
    notes : Notes
        What had to be assumed.
    """
    many = next((n for n in _PCIE if links and links % n == 0), 0)
    speed = _PCIE.get(many, 16.0)
    name, bandwidth = pcie(speed, 16, "assumed, as the table has no speeds")
    wire = Wire(name, bandwidth, PCIE_ALPHA)
    gpus = matrix.gpus
    cables = list(fast)
    top: list[str] = [gpu(r) for r in range(len(gpus))]
    made = 0
    for words in (("PIX",), ("PIX", "PXB")):
        for group in _groups(gpus, _reaching(matrix, words)):
            below = list(dict.fromkeys(top[r] for r in group))
            if len(below) > 1:
                for vertex in below:
                    cables += both_ways(vertex, f"pcie[{made}]", wire)
                for r in group:
                    top[r] = f"pcie[{made}]"
                made += 1
    near = _reaching(matrix, ("PIX", "PXB", "PHB", "NODE"))
    groups = _groups(gpus, lambda a, b: near(a, b) or _alike(matrix, a, b))
    for cpu, group in enumerate(groups):
        for vertex in dict.fromkeys(top[r] for r in group):
            cables += both_ways(vertex, f"cpu[{cpu}]", wire)
    smp = Wire("smp", _SMP, PCIE_ALPHA)
    for a, b in combinations(range(len(groups)), 2):
        cables += both_ways(f"cpu[{a}]", f"cpu[{b}]", smp)
    pcie_notes = [
        f"PCIe has {speed:g} GT/s and 16 lanes everywhere: the table does not say",
        "a CPU passes on all that its PCIe links carry (PHB, NODE)",
    ]
    if len(groups) > 1:
        pcie_notes.append(f"between CPUs (SYS) go {_SMP.value / 1e9:g} GB/s each way")
    nearer = sum(
        matrix.cells[gpus[a], gpus[b]] == "SYS" for g in groups for a, b in combinations(g, 2)
    )
    if nearer:
        pcie_notes.append(f"the table contradicts itself: {nearer} pairs are nearer than SYS")
    if fast:
        pcie_notes.append("NVLink hides in the table how its GPUs are joined over PCIe")
    return cables, Notes(pcie=tuple(pcie_notes))


def _reaching(matrix: Matrix, words: tuple[str, ...]) -> Callable[[str, str], bool]:
    return lambda a, b: matrix.cells[a, b] in words


def _alike(matrix: Matrix, a: str, b: str) -> bool:
    """Return whether two GPUs with NVLink between them are as far from all others."""
    cells = matrix.cells
    if not cells[a, b].startswith("NV"):
        return False
    others = [c for c in (*matrix.gpus, *matrix.nics) if c not in {a, b}]
    pairs = [(cells.get((a, c), "NV"), cells.get((b, c), "NV")) for c in others]
    return all(one == two or "NV" in (one[:2], two[:2]) for one, two in pairs)


def _groups(gpus: tuple[str, ...], same: Callable[[str, str], bool]) -> list[list[int]]:
    """Return ranks in groups: those that are the same, and the same as the same."""
    group = list(range(len(gpus)))
    for a, b in combinations(range(len(gpus)), 2):
        if group[a] != group[b] and same(gpus[a], gpus[b]):
            low, high = sorted((group[a], group[b]))
            group = [low if g == high else g for g in group]
    return [[r for r in range(len(gpus)) if group[r] == g] for g in sorted(set(group))]
