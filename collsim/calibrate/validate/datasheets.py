"""What the presets predict with nothing fitted: latencies and bandwidths of datasheets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from collsim.calibrate.validate.bench import Bench, Log
from collsim.calibrate.validate.errors import Errors, errors, ratios
from collsim.calibrate.validate.rows import bench_rows, in_series
from collsim.core.cluster import Cluster

__all__ = ["SHEETS", "Predicts", "Sheet", "SheetResult", "datasheet"]

_LARGE: Final = 2**26
"""From this size on bytes decide, and latencies, which presets assume, hardly count."""
_EVERY: Final = 3
"""Every so many sizes of a series are simulated."""

_KINDS: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


class _Row(Protocol):
    @property
    def time_us(self) -> float: ...


class _Prediction(Protocol):
    @property
    def rows(self) -> Sequence[_Row]: ...


class Predicts(Protocol):
    """What is asked of :func:`collsim.predict`."""

    def __call__(
        self, collective_name: str, cluster: Cluster, sizes: Sequence[float], algorithm: str
    ) -> _Prediction:
        """Return a row for each size."""


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
        Of the rows that were simulated, by the fastest that NCCL has.
    bias : float
        Median of predicted / measured.
    large : tuple of float
        Predicted / measured of the rows from `_LARGE` on.
    default : Errors
        Of the same rows, by the fastest of all algorithms.
    default_large : tuple of float
        As `large`, of these.
    """

    system: str
    nodes: int
    gpus: int
    collective: str
    errors: Errors
    bias: float
    large: tuple[float, ...]
    default: Errors
    default_large: tuple[float, ...]


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


def datasheet(sheet: Sheet, folder: str, predict: Predicts) -> list[SheetResult]:
    """Return the errors of a preset on every collective of a log; none if the log is missing.

    Parameters
    ----------
    sheet : Sheet
        The preset, and the logs.
    folder : str
        Where they are.
    predict : callable
        :func:`collsim.predict`, which is asked for ``"nccl"`` and for ``"auto"``.

    Examples
    --------
    >>> import collsim
    >>> datasheet(SHEETS[0], "examples", collsim.predict)
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
        if kind not in _KINDS:
            continue
        sizes = [float(row.nbytes) for row in some]
        ratio, default = (
            ratios(
                [row.time_us * 1e-6 for row in predict(kind, cluster, sizes, name).rows], some
            )
            for name in ("nccl", "auto")
        )
        off, default_off = errors(ratio), errors(default)
        if off is not None and default_off is not None:
            where = sheet.system, sheet.nodes, sheet.gpus, kind
            large = np.array([size >= _LARGE for size in sizes])
            found.append(
                SheetResult(
                    *(*where, off, float(np.median(ratio)), tuple(ratio[large].tolist())),
                    *(default_off, tuple(default[large].tolist())),
                )
            )
    return found
