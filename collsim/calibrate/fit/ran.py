"""Which of NCCL's algorithms rows are taken to be of, where they don't say it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from collsim.algorithms import algorithm_names
from collsim.calibrate.nccl_model import Fitted
from collsim.core.measurements import Measurement, Measurements
from collsim.errors import UnknownNameError
from collsim.nccl.names import COLLECTIVES, OUR_NAME

__all__ = ["ran_as", "ran_notes"]

_THEIRS: Final = {ours: theirs for theirs, ours in OUR_NAME.items()}


def ran_as(measured: Measurements, algorithm: str) -> Measurements:
    """Return rows that say that an algorithm of NCCL ran, where they said nothing.

    Rows of other collectives, and those that name what ran, stay as they are.

    Raises
    ------
    UnknownNameError
        If it is none of NCCL's.

    Examples
    --------
    >>> rows = [Measurement(kind, 8, 1024, 1e-5) for kind in ("all_reduce", "all_to_all")]
    >>> [row.algorithm for row in ran_as(Measurements(rows), "ring")]
    ['ring', None]
    """
    if algorithm not in _THEIRS:
        raise UnknownNameError("algorithm of NCCL", algorithm, _THEIRS)
    rows = [
        replace(row, algorithm=algorithm)
        if row.algorithm is None
        and row.collective in COLLECTIVES
        and algorithm in algorithm_names(row.collective)
        else row
        for row in measured.rows
    ]
    return replace(measured, rows=tuple(rows))


def ran_notes(
    rows: Sequence[Measurement], fitted: Fitted, asked: str | None = None
) -> list[str]:
    """Return what rows were taken to be of, and on what ground, if they don't say what ran.

    Parameters
    ----------
    rows : sequence of Measurement
        That were fitted.
    fitted : Fitted
        To them.
    asked : str, optional
        The algorithm that they were said to be of.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model import System, fit_nccl
    >>> rows = [Measurement("all_reduce", 8, 2**k, 15e-6 + 2**k * 4e-12) for k in (10, 20, 28)]
    >>> ran_notes(rows, fit_nccl(rows, System("hopper", 12, 360.0, nvls=True)))
    ["the rows don't say what ran; NCCL's table has all_reduce as ring, nvls: if another
    ran (NCCL_ALGO, NVLS off), say --model nccl --algorithm NAME"]
    """
    if asked is not None and any(row.algorithm == asked for row in rows):
        said = (
            f"the rows are taken to be of {asked}, as was asked for: predict and check take "
            f"NCCL's own choice by default, so give them --algorithm {asked} too"
        )
        return [said]
    found: dict[str, dict[str, None]] = {}
    for row in sorted(rows, key=lambda row: row.nbytes):
        if row.algorithm is None and row.collective in COLLECTIVES and row.ranks > 1:
            nodes = fitted.system.nodes_of(row.ranks, row.nodes)
            where = row.collective, row.ranks, nodes, row.nbytes
            name, _ = fitted.choice(*where, dtype=row.dtype, op=row.op)
            found.setdefault(row.collective, {})[OUR_NAME.get(name, name)] = None
    told = [
        f"{kind} as {', '.join(names)}"
        for kind, names in sorted(found.items())
        if len(names) > 1 or any(name.startswith("nvls") for name in names)
    ]
    if not told:
        return []
    how = "NCCL's table has" if fitted.by_table else "the fastest fitted pieces are"
    off = ", NVLS off" if fitted.system.nvls else ""
    said = (
        f"the rows don't say what ran; {how} {'; '.join(told)}: if another ran (NCCL_ALGO{off})"
        ", say --model nccl --algorithm NAME"
    )
    return [said]
