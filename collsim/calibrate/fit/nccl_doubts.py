"""What makes one doubt that rows are of the system that they are fitted as, in words."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import median
from typing import Final

from collsim.calibrate.gpu_names import gpus_named, names_joined
from collsim.calibrate.nccl_model import Fitted, system_named
from collsim.core.collective import collective
from collsim.core.measurements import Measurement
from collsim.core.profile import ErrorSummary
from collsim.units import format_bandwidth, format_size, format_time

__all__ = ["doubt_notes"]

_DOUBTFUL: Final = 0.3
"""An error at the 90th percentile above which rows may be of several systems."""
_APART: Final = 1.3
_ABOVE: Final = 1.02  # above a datasheet by more than rounding
_FLAT: Final = 1.05
_GROWN: Final = 64
_LARGE: Final = 2**24
Key = tuple[str, int, int | None]


def doubt_notes(
    rows: Sequence[Measurement],
    fitted: Fitted,
    errors: ErrorSummary,
    cluster: str,
    sheet: tuple[str, float] | None = None,
) -> list[str]:
    """Return what contradicts that the rows are of one system, and of this one.

    Parameters
    ----------
    rows : sequence of Measurement
        That were fitted.
    fitted : Fitted
        To them.
    errors : ErrorSummary
        Of held-out rows if there are any, else of the fitted ones.
    cluster : str
        Name or file of the cluster that they are said to be of, or ``"ideal"``.
    sheet : tuple of str and float, optional
        What takes a GPU's bytes to others of its node, and how many a second by datasheet.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model import System, fit_nccl
    >>> rows = [Measurement("all_gather", 8, 2**k, 15e-6 + 2**k * 4e-12) for k in range(10, 31)]
    >>> fine = ErrorSummary("in_sample", 0.01, 0.02, 21)
    >>> fitted = fit_nccl(rows, System("ampere", 12, 240.0))
    >>> doubt_notes(rows, fitted, fine, "dgx-a100", ("nvlink3", 200e9))
    ['all_gather of 1GiB (a row without a file) has a bus bandwidth of 218GB/s, above the
    200GB/s of nvlink3: are the rows of this cluster?']
    """
    notes = []
    if errors.p90 > _DOUBTFUL:
        notes.append(
            f"the fit is off by {errors.p90:.0%} at the 90th percentile ({errors.kind}): are "
            "the rows of one system?"
        )
    return [
        *notes,
        *_files_apart(rows),
        *_another_gpu(rows, fitted, cluster),
        *_too_fast(rows, fitted, sheet),
        *_flat(rows),
    ]


def _key(row: Measurement) -> Key:
    return row.collective, row.ranks, row.nodes


def _files_apart(rows: Sequence[Measurement]) -> Iterator[str]:
    """Say which two files have other times of the same."""
    files: dict[str, dict[tuple[object, ...], list[float]]] = {}
    for row in rows:
        same = (*_key(row), row.nbytes, row.algorithm, row.protocol)
        files.setdefault(row.source.file or "", {}).setdefault(same, []).append(row.seconds)
    for one, other in combinations(files, 2):
        both = [key for key in files[one] if key in files[other]]
        ratios = [median(files[one][key]) / median(files[other][key]) for key in both]
        if not ratios:
            continue
        middle = median(ratios)
        if max(middle, 1 / middle) > _APART:
            yield (
                f"{one} takes {middle:.3g} times as long as {other}, median of the "
                f"{len(both)} that both have: are they of one system?"
            )


def _another_gpu(rows: Sequence[Measurement], fitted: Fitted, cluster: str) -> Iterator[str]:
    """Say which GPU of the rows is not the cluster's."""
    if cluster == "ideal":
        return
    of_name = gpus_named(cluster.rpartition("/")[2])
    ours = fitted.system.architecture
    joined = {row.source.device for row in rows if row.source.device}
    for device in sorted({name for one in joined for name in names_joined(one)}):
        of_rows = gpus_named(device)
        known = system_named(device)
        if known is not None and known.architecture != ours:
            yield f"the rows are of {device}, but cluster {cluster} is of {ours}: is -c right?"
        elif of_name and of_rows and not of_name & of_rows:
            yield f"the rows are of {device}, but the cluster is {cluster}: is -c right?"


def _too_fast(
    rows: Sequence[Measurement], fitted: Fitted, sheet: tuple[str, float] | None
) -> Iterator[str]:
    """Say which rate is above what the links of a node carry."""
    if sheet is None:
        return
    link, most = sheet
    told = f"above the {format_bandwidth(most)} of {link}: are the rows of this cluster?"
    inside = [row for row in rows if row.nodes in (None, 1) and row.ranks > 1]
    fast = [(_bus(row) / _gain(row, fitted), row) for row in inside]
    over, row = max(fast, key=lambda pair: pair[0], default=(0.0, None))
    if row is not None and over > _ABOVE * most:
        bus = format_bandwidth(float(f"{_bus(row):.3g}"))
        where = f"{row.collective} of {format_size(row.nbytes)} ({row.source})"
        yield f"{where} has a bus bandwidth of {bus}, {told}"
        return
    beta = fitted.values["inside.simple.beta"]
    if inside and beta * most * _ABOVE < 1.0 and fitted.shown("ring", "simple"):
        yield f"1/beta of ring/simple is {format_bandwidth(float(f'{1 / beta:.3g}'))}, {told}"


def _bus(row: Measurement) -> float:
    return row.nbytes * collective(row.collective).bus_factor(row.ranks) / row.seconds


def _gain(row: Measurement, fitted: Fitted) -> float:
    """Return by how much switches that add up raise the bus bandwidth above the link's."""
    if row.collective != "all_reduce" or not fitted.system.nvls:
        return 1.0
    # n (P + 1) / P bytes pass instead of 2 n (P - 1) / P.
    return max(1.0, 2 * (row.ranks - 1) / (row.ranks + 1))


def _flat(rows: Sequence[Measurement]) -> Iterator[str]:
    """Say which times do not grow with size, so that they tell no bandwidth."""
    series: dict[Key, list[Measurement]] = {}
    for row in rows:
        series.setdefault(_key(row), []).append(row)
    for (name, ranks, _), some in series.items():
        sizes = [row.nbytes for row in some]
        times = [row.seconds for row in some]
        grown = max(sizes) >= _GROWN * max(1, min(sizes)) and max(sizes) >= _LARGE
        if grown and max(times) < _FLAT * min(times):
            yield (
                f"{name} on {ranks} ranks takes {format_time(float(f'{median(times):.3g}'))} "
                f"from {format_size(min(sizes))} to {format_size(max(sizes))}: times that do "
                "not grow tell no bandwidth"
            )
