"""A baseline: the time by which NCCL itself chooses, from documented numbers alone."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.validate.bench import Bench
from collsim.core.measurements import Measurement
from collsim.nccl import Communicator, Tuning, communicator, tuning
from collsim.nccl.families import element_of

__all__ = ["nccl_model"]

MODELLED = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")


def nccl_model(bench: Bench, rows: Sequence[Measurement]) -> NDArray[np.float64]:
    """Return the seconds that NCCL expects; NaN for a collective that it has no model of.

    That is the time of what was forced, or of what NCCL would choose, by the table that it
    fills for the preset of the bench.

    Examples
    --------
    >>> bench = Bench("a", "A", (), "dgx-a100", "own", (), None)
    >>> kinds = ("all_reduce", "all_to_all")
    >>> rows = [Measurement(kind, 8, 2**20, 1e-5, nodes=1) for kind in kinds]
    >>> (nccl_model(bench, rows) * 1e6).round(1).tolist()
    [35.9, nan]
    """
    tables: dict[tuple[int, int], Tuning] = {}
    found = []
    for row in rows:
        key = row.ranks, row.nodes or 1
        if row.collective in MODELLED and key not in tables:
            tables[key] = _table_of(bench, *key)
        found.append(_seconds(tables[key], row) if row.collective in MODELLED else None)
    return np.array([np.nan if t is None else t for t in found], float)


def _table_of(bench: Bench, ranks: int, nodes: int) -> Tuning:
    """Return NCCL's table for so many ranks of a bench."""
    if bench.graphs is not None:
        comm = Communicator(ranks, nodes, 90, bench.graphs, bench.channels, nvswitch=False)
        return tuning(comm, bench.nccl)
    arch, vendor = bench.cpu
    comm = communicator(bench.cluster(ranks, nodes), cpu_arch=arch, cpu_vendor=vendor)
    if bench.card is not None:
        graphs = {k: replace(g, type_inter=bench.card) for k, g in comm.graphs.items()}
        comm = replace(comm, graphs=graphs)
    return tuning(comm, bench.nccl)


def _seconds(table: Tuning, row: Measurement) -> float | None:
    if row.algorithm is not None and row.protocol is not None:
        return table.seconds(row.collective, row.algorithm, row.protocol, row.nbytes)
    dtype, op = element_of(row.collective, row.dtype, row.op)
    return table.choice(row.collective, row.nbytes, dtype=dtype, op=op).time_us * 1e-6
