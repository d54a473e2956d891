"""The rows of a bench, and those of a trial."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log
from collsim.calibrate.rows import usable
from collsim.calibrate.validate.bench import Bench, Log, Trial
from collsim.core.measurements import Measurement
from collsim.errors import FileError

__all__ = ["Parted", "Rows", "bench_rows", "in_series", "parted"]

Rows = tuple[Measurement, ...]
_KEYS = {"collective": "collective", "ranks": "ranks", "nodes": "nodes"}
_FOLDERS = ("", "public", "ours")
# One message to the neighbour is no collective of many steps.
_TAKEN = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")


@dataclass(frozen=True)
class Parted:
    """What a trial fits and what it holds out."""

    fit: Rows
    hold: Rows


def _find(folder: str, log: Log) -> str | None:
    """Return the path of a log under a folder of measurements, or None."""
    for inner in _FOLDERS:
        place = os.path.join(folder, inner)
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        for name in names:
            if name.startswith(log.stem) and os.path.isfile(os.path.join(place, name)):
                return os.path.join(place, name)
    return None


def bench_rows(bench: Bench, folder: str) -> Rows | None:
    """Return the out-of-place rows of a system, or None if the folder lacks one of its logs.

    Raises
    ------
    FileError
        If a log can't be read.

    Examples
    --------
    >>> log = Log("h200_one_gpu_2_ranks_device", 2, forced=True)
    >>> bench = Bench("h200", "H200", (log,), "dgx-h200", "own", (), None)
    >>> len(bench_rows(bench, "examples/h200_one_gpu"))
    414
    """
    found: list[Measurement] = []
    for log in bench.logs:
        path = _find(folder, log)
        if path is None:
            return None
        read = read_log(path, ReadOptions(gpus_per_node=log.gpus_per_node))
        rows = [row for row in read if not row.in_place and row.collective in _TAKEN]
        if log.dtype is not None:
            rows = [row for row in rows if row.dtype == log.dtype]
        if log.forced:
            rows = [row for row in rows if row.algorithm is not None]
        if not rows:
            raise FileError(path, f"no row of {bench.title} in it")
        found += usable(rows, None)[0]
    return tuple(found)


def in_series(rows: Iterable[Measurement]) -> list[list[Measurement]]:
    """Return rows by collective, ranks, nodes and what was forced, each ascending in size.

    Examples
    --------
    >>> rows = [Measurement("broadcast", p, n, 1e-6) for n in (2, 1) for p in (4, 8)]
    >>> [[(row.ranks, row.nbytes) for row in one] for one in in_series(rows)]
    [[(4, 1), (4, 2)], [(8, 1), (8, 2)]]
    """
    series: dict[tuple[object, ...], list[Measurement]] = {}
    for row in sorted(rows, key=lambda row: row.nbytes):
        key = row.collective, row.ranks, row.nodes, row.algorithm or "", row.protocol or ""
        series.setdefault(key, []).append(row)
    return [series[key] for key in sorted(series, key=str)]


def parted(rows: Rows, trial: Trial) -> Parted:
    """Return what a trial fits and what it predicts.

    Examples
    --------
    >>> rows = tuple(Measurement("broadcast", p, n, 1e-6) for n in (1, 2) for p in (4, 8))
    >>> found = parted(rows, Trial("ranks", "", {"ranks": (4,)}, {"ranks": (8,)}))
    >>> len(found.fit), {row.ranks for row in found.hold}
    (2, {8})
    >>> found = parted(rows, Trial("sizes", "", alternate=True))
    >>> {row.nbytes for row in found.fit}, {row.nbytes for row in found.hold}
    ({1}, {2})
    """
    fit = tuple(row for row in rows if _meets(row, trial.fit))
    if trial.alternate:
        series = in_series(fit)
        seen, unseen = ([r for one in series for r in one[k::2]] for k in range(2))
        return Parted(tuple(seen), tuple(unseen))
    return Parted(fit, tuple(row for row in rows if _meets(row, trial.hold)))


def _meets(row: Measurement, values: Mapping[str, tuple[object, ...]]) -> bool:
    return all(getattr(row, _KEYS[key]) in allowed for key, allowed in values.items())
