"""What the presets predict with nothing fitted: latencies and bandwidths of datasheets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms import algorithm_names, find, refusal
from collsim.calibrate.predictor import predictor_of
from collsim.calibrate.validate.bench import Bench, Log
from collsim.calibrate.validate.errors import Errors, errors, ratios
from collsim.calibrate.validate.rows import bench_rows, in_series
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement

__all__ = ["SHEETS", "Sheet", "SheetResult", "datasheet"]

FloatArray = NDArray[np.float64]
_CHUNKS: Final = (1, 4, 16)
"""Chunk counts that are tried: hundreds of ranks take a second each."""
_LARGE: Final = 2**26
"""From this size on bytes decide, and latencies, which presets assume, hardly count."""
_EVERY: Final = 3
"""Every so many sizes of a series are simulated."""

# What NCCL has, by our names; its all_to_all is a send and a receive per peer in turn.
_NCCL: Final = {
    "all_reduce": ("ring", "double_binary_tree", "nvls", "nvls_tree"),
    "all_gather": ("ring",),
    "reduce_scatter": ("ring",),
    "all_to_all": ("ring",),
}


@dataclass(frozen=True)
class Sheet:
    """A cluster as its datasheets tell, and logs of it.

    Parameters
    ----------
    system : str
        What it is, in words.
    nodes, gpus : int
        Nodes, and GPUs of each, that took part.
    bench : Bench
        The preset and the logs.
    """

    system: str
    nodes: int
    gpus: int
    bench: Bench


@dataclass(frozen=True)
class SheetResult:
    """What a preset reached on one collective.

    Parameters
    ----------
    system, nodes, gpus
        Where, as in `Sheet`.
    collective : str
        What was measured.
    errors : Errors
        Of the rows that were simulated.
    bias : float
        Median of predicted / measured.
    large : tuple of float
        Predicted / measured of the rows from `_LARGE` on.
    """

    system: str
    nodes: int
    gpus: int
    collective: str
    errors: Errors
    bias: float
    large: tuple[float, ...] = ()


def _sheets() -> tuple[Sheet, ...]:
    found = []
    two_nics = {"network.nics": 2, "network.link": "slingshot200"}
    for system, preset, changes, logs in (
        (
            "4 GH200 a node, 4 NICs, Slingshot",
            "gh200-slingshot",
            None,
            ((1, 4, "046"), (2, 4, "047"), (8, 4, "049"), (32, 4, "051"), (128, 4, "053")),
        ),
        (
            "4 A100 a node, 2 NICs, Slingshot",
            "hgx-a100-4",
            two_nics,
            (
                *((2, 4, stem) for stem in ("066", "067", "068")),
                *((8, 4, stem) for stem in ("069", "070", "071")),
            ),
        ),
        (
            "8 H100 a node, 8 NICs, InfiniBand NDR",
            "dgx-h100",
            None,
            ((1, 8, "209"), (2, 8, "245"), (8, 8, "244"), (10, 1, "008"), (10, 2, "009")),
        ),
    ):
        for nodes, gpus, stem in logs:
            log = Log(stem, gpus if nodes > 1 else 8, "half" if stem == "209" else None)
            bench = Bench(stem, system, (log,), preset, "seen", (), None, changes=changes)
            found.append(Sheet(system, nodes, gpus, bench))
    return tuple(found)


SHEETS: Final = _sheets()
"""GH200, A100 and H100, from one node to 128."""


def datasheet(sheet: Sheet, folder: str) -> list[SheetResult]:
    """Return the errors of a preset on every collective of a log; none if the log is missing.

    Examples
    --------
    >>> datasheet(SHEETS[0], "examples")
    []
    """
    rows = bench_rows(sheet.bench, folder)
    if rows is None:
        return []
    cluster = sheet.bench.cluster(sheet.nodes * sheet.gpus, sheet.nodes)
    found = []
    for series in in_series(row for row in rows if row.ranks == cluster.ranks):
        some = series[::_EVERY]
        kind = some[0].collective
        if kind not in _NCCL:
            continue
        ratio = ratios(_sheet_times(cluster, some), some)
        off = errors(ratio)
        if off is not None:
            where = sheet.system, sheet.nodes, sheet.gpus, kind
            large = [
                float(r) for r, row in zip(ratio, some, strict=True) if row.nbytes >= _LARGE
            ]
            found.append(SheetResult(*where, off, float(np.median(ratio)), tuple(large)))
    return found


def _sheet_times(cluster: Cluster, rows: Sequence[Measurement]) -> FloatArray:
    """Return the simulated seconds of rows of one collective: the fastest that NCCL has.

    Examples
    --------
    >>> rows = [Measurement("all_gather", 8, n, 1e-5) for n in (2**10, 2**30)]
    >>> (_sheet_times(Cluster.load("dgx-h100"), rows) * 1e6).round(1).tolist()
    [23.8, 2111.6]
    """
    collective = rows[0].collective
    times = np.full(len(rows), np.inf)
    for name in set(_NCCL[collective]) & set(algorithm_names(collective)):
        multicast = cluster.setting.multicast
        if refusal(collective, name, cluster.ranks, cluster.node, multicast=multicast):
            continue
        for chunks in _CHUNKS if find(collective, name).chunked else (1,):
            predict = predictor_of(cluster, name, chunks)
            found = [predict(collective, cluster.ranks, row.nbytes).seconds for row in rows]
            times = np.minimum(times, found)
    return times
