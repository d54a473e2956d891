"""Rows as arrays, grouped by the formula that gives their time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.nccl_model.system import Selector, System
from collsim.core.measurements import Measurement
from collsim.errors import InputError
from collsim.nccl.families import element_of, takes
from collsim.nccl.names import COLLECTIVES, OUR_NAME, PROTOCOLS

__all__ = [
    "Batch",
    "Case",
    "Floats",
    "Group",
    "Values",
    "batch_of",
    "case_of",
    "unknown_piece",
]

_THEIRS: Final = {ours: theirs for theirs, ours in OUR_NAME.items()}
Floats = NDArray[np.float64]
Values = Mapping[str, Floats]
"""Parameters by key, each a column: a value per trial, so that trials times rows broadcast."""


@dataclass(frozen=True)
class Case:
    """What is asked: a collective of so many bytes on so many ranks.

    An element's type and its reduction count for NCCL's choice alone.
    """

    collective: str
    ranks: int
    nodes: int
    nbytes: float
    algorithm: str | None = None
    protocol: str | None = None
    element: tuple[str, str] = ("float", "sum")


def case_of(row: Measurement, system: System) -> Case:
    """Return the case of a measurement; NCCL's algorithm, and with it a protocol, if named.

    Raises
    ------
    InputError
        If it names a piece that has no formula on the system.
    """
    reason = unknown_piece(row, system)
    if reason is not None:
        raise InputError(f"{row.source}: {reason}")
    return Case(
        row.collective,
        row.ranks,
        system.nodes_of(row.ranks, row.nodes),
        float(row.nbytes),
        None if row.algorithm is None else _THEIRS.get(row.algorithm, row.algorithm),
        None if row.algorithm is None else row.protocol,
        element_of(row.collective, row.dtype, row.op),
    )


def unknown_piece(row: Measurement, system: System) -> str | None:
    """Return why the piece that a measurement names has no formula; None if it has.

    Examples
    --------
    >>> row = Measurement("all_reduce", 8, 1024, 1e-5, algorithm="nvls", protocol="simple")
    >>> unknown_piece(row, System("ampere", 12, 240.0))
    "nvls/simple ran, which NCCL's model has no formula of on this system"
    """
    if row.algorithm is None:
        return None
    algorithm = _THEIRS.get(row.algorithm, row.algorithm)
    if row.protocol is None:
        return _unknown_algorithm(row, system, algorithm)
    known = algorithm in OUR_NAME and row.protocol in PROTOCOLS
    if algorithm.startswith("nvls"):
        known = known and system.nvls and row.protocol == "simple"
    if known or row.collective == "all_to_all":
        return None
    return (
        f"{row.algorithm}/{row.protocol} ran, which NCCL's model has no formula of on this "
        "system"
    )


def _unknown_algorithm(row: Measurement, system: System, algorithm: str) -> str | None:
    """Return why there is no formula of an algorithm that is named without a protocol."""
    if row.collective not in COLLECTIVES or row.ranks == 1:
        return None
    nodes = system.nodes_of(row.ranks, row.nodes)
    if nodes > 1 and not system.several:
        return None  # whoever asks for its time is told that
    pieces = system.pieces(row.collective, row.ranks, nodes)
    if algorithm in OUR_NAME and any(algorithm == name for name, _ in pieces):
        return None
    return f"{row.algorithm} ran, which NCCL does not have there by its model"


@dataclass(frozen=True)
class Group:
    """Cases of one formula.

    Parameters
    ----------
    system : System
        Where.
    collective, algorithm, protocol : str
        Which formula.
    where : array of int
        Places of its cases among all.
    ranks, nodes, nbytes : array of float
        Of each case.
    """

    system: System
    collective: str
    algorithm: str
    protocol: str
    where: NDArray[np.intp]
    ranks: Floats
    nodes: Floats
    nbytes: Floats

    @property
    def several(self) -> bool:
        """Whether its cases are on several nodes."""
        return bool(self.nodes[0] > 1)

    @property
    def span(self) -> str:
        """Class of the links that so many ranks span; the formula is of one rank count then."""
        return f"span{int(self.ranks[0])}"


@dataclass(frozen=True)
class Batch:
    """Cases in groups; a case in several takes the fastest."""

    count: int
    groups: tuple[Group, ...]
    pieces: tuple[tuple[tuple[str, str], ...], ...] = field(compare=False)


def batch_of(system: System, cases: Sequence[Case], selector: Selector) -> Batch:
    """Return cases grouped by the pieces that NCCL's table, read by a selector, chooses."""
    found: dict[tuple[str, str, str, bool, int], list[int]] = {}
    pieces = tuple(_pieces(system, case, selector) for case in cases)
    for i, (case, chosen) in enumerate(zip(cases, pieces, strict=True)):
        for algorithm, protocol in chosen:
            span = 0 if system.uniform else case.ranks
            key = case.collective, algorithm, protocol, case.nodes > 1, span
            found.setdefault(key, []).append(i)
    groups = []
    for (collective, algorithm, protocol, _, _), where in found.items():
        ranks, nodes, nbytes = (
            np.array([getattr(cases[i], name) for i in where], dtype=np.float64)
            for name in ("ranks", "nodes", "nbytes")
        )
        places = np.array(where, dtype=np.intp)
        groups.append(
            Group(system, collective, algorithm, protocol, places, ranks, nodes, nbytes)
        )
    return Batch(len(cases), tuple(groups), pieces)


def _pieces(system: System, case: Case, selector: Selector) -> tuple[tuple[str, str], ...]:
    if case.collective == "all_to_all":
        named = case.protocol if case.protocol in ("ll", "simple") else None
        return tuple(("p2p", p) for p in ("ll", "simple") if named in (None, p))
    if case.algorithm is not None and case.protocol is not None:
        return ((case.algorithm, case.protocol),)
    where = case.collective, case.ranks, case.nodes
    if case.algorithm is not None:
        return tuple(p for p in system.pieces(*where, selector) if p[0] == case.algorithm)
    if selector.scale:
        return (system.choice(*where, case.nbytes, selector, case.element),)
    return tuple(
        piece
        for piece in system.pieces(*where, selector)
        if (piece[0] != "tree" or case.nodes > 1)
        and takes(case.collective, piece[0], *case.element)
    )
