"""Predict how long a collective takes: rows in the shape of nccl-tests' table."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from collsim.choose.curve import Counts, Curve, Model, Time
from collsim.choose.curves import curves
from collsim.choose.fitted import FittedTimes, Pieces
from collsim.choose.folding import folded_of
from collsim.choose.rows import COMPARED, Made, Prediction, Row, made_row
from collsim.choose.several import joined
from collsim.choose.specs import spec_list
from collsim.choose.timed import fastest, times_at
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import OPS, Collective, check_root, collective
from collsim.core.dtype import element_size
from collsim.engine.bound import lower_bound
from collsim.engine.simulation import check_nbytes, load
from collsim.errors import InputError, UnknownNameError
from collsim.nccl.families import FAMILIES
from collsim.units import parse_size

__all__ = ["COMPARED", "FittedTimes", "Prediction", "Row", "curves", "predict"]

# Messages from which the compiled loops repay loading them (about 0.4 s), as many as a
# direct exchange has for each algorithm, channel and size: tried on 8 to 64 ranks, one to
# 31 sizes, one and all algorithms.
_REPAID: Final = 50_000
_FAIR_REPAID: Final = 5_000


@checked
def predict(
    collective_name: str,
    cluster: Cluster,
    sizes: float | str | Iterable[float | str],
    algorithm: str | Sequence[str] = "auto",
    *,
    dtype: str = "float",
    op: str = "sum",
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    model: Model = "auto",
    healthy: Cluster | None = None,
    fitted: FittedTimes | None = None,
    fold: bool = True,
) -> Prediction:
    """Predict the time of a collective at some sizes.

    Parameters
    ----------
    collective_name : str
        Any spelling: ``"all_reduce"``, ``"allreduce"``, ``"all-reduce"``.
    cluster : Cluster
        Where it runs.
    sizes : float, str, or iterable of them
        Bytes of the full buffer, n, as nccl-tests counts them, or text such as ``"64MiB"``.
    algorithm : str or sequence of str
        A name, ``"auto"`` (the fastest at each size), ``"nccl"`` (the fastest of those that
        NCCL has) or ``"all"``; or several names, also in one text: ``"ring,mst"``.
    dtype, op : str
        Element type and reduction, by nccl-tests' names.
    root : int
        Root of a rooted collective.
    chunks : int, "auto" or sequence of int
        Chunks of pipelined algorithms; auto takes the best power of two, of several numbers
        the best is taken.
    channels : int, "auto" or sequence of int
        Copies of an algorithm that run at once, where it can; auto takes the better of one
        and as many as a node has GPUs.
    model : {"auto", "event", "formula"}
        Auto uses the closed formula only where it is exact.
    healthy : Cluster, optional
        What to compare with: rows then say what the same takes there. With ``"auto"``
        that is the fastest there, which may be another algorithm. Fitted times are of the
        machine as it was, so both are simulated then, and ``"auto"`` is ``"nccl"``.
    fitted : FittedTimes, optional
        Fitted times of NCCL, as :func:`collsim.fitted_times` gives of a profile.
        With model auto they count for what NCCL has, and both ``"auto"`` and ``"nccl"``
        are what NCCL chooses, for this type and reduction; what it lacks is timed on the
        cluster. They take no chunks and channels, and are of ranks and links as they were
        measured.
    fold : bool
        Whether, on 1,024 ranks or more, a few are simulated where schedule and cluster are
        shown to be the same for all of them; the times are the same to the last bit, and the
        answer's `folded` says so.

    Returns
    -------
    Prediction
        Rows in nccl-tests' terms.

    Raises
    ------
    UnknownNameError
        For a collective, algorithm, dtype or op that there is not.
    InputError
        For a size, root or chunk count that can't be.

    Examples
    --------
    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> [(row.algorithm, round(row.time_us, 1))
    ...  for row in predict("all_reduce", cluster, [1024, 2**30]).rows]
    [('recursive_doubling', 30.0), ('halving_doubling', 2147.8)]
    """
    kind = collective(collective_name)
    element_size(dtype)
    if op not in OPS:
        raise UnknownNameError("op", op, OPS)
    given = [sizes] if isinstance(sizes, int | float | str) else sizes
    wanted = [
        parse_size(size) if isinstance(size, str) else check_nbytes(size) for size in given
    ]
    names = spec_list(algorithm, "algorithm") or ("auto",)
    if len(names) > 1:
        return joined(
            names,
            lambda name: predict(
                kind.name, cluster, wanted, name, dtype=dtype, op=op, root=root, chunks=chunks,
                channels=channels, model=model, healthy=healthy, fitted=fitted, fold=fold,
            ),
        )  # fmt: skip
    algorithm = names[0]
    pieces = None
    if model == "auto" and fitted is not None:
        check_root(root, cluster.ranks)
        pieces = Pieces.of(fitted, kind, cluster, algorithm, dtype=dtype, op=op, root=root)
    if pieces is not None and healthy is not None:
        pieces, algorithm = None, "nccl" if algorithm == "auto" else algorithm
    if pieces is not None and not pieces.others:
        return _prediction(kind, cluster, pieces.rows(wanted), {})
    found, left_out = curves(
        kind.name, cluster, algorithm,
        root=root, chunks=chunks, channels=channels, model=model, fold=fold, dtype=dtype, op=op,
    )  # fmt: skip
    if pieces is not None:
        found = [curve for curve in found if curve.name not in pieces.names]
        left_out = {k: why for k, why in left_out.items() if k not in pieces.names}
    if _repays_loading(found, cluster, len(wanted)):
        load(cluster.sharing == "fair")
    rows: list[Row] = []
    for size in wanted:
        times = times_at(found, size, left_out, prune=algorithm in FAMILIES)
        if algorithm in FAMILIES:
            times = [fastest(times)]
        bound = lower_bound(kind, cluster, size)
        if pieces is not None:
            rows += pieces.rows([size])
        rows += [_row(kind, curve, size, time, bound, dtype, op) for curve, time in times]
    if healthy is not None:
        run = {
            "root": root, "chunks": chunks, "channels": channels, "model": model, "fold": fold,
            "dtype": dtype, "op": op,
        }  # fmt: skip
        rows = _compared(rows, _there(kind.name, healthy, wanted, algorithm, run))
    return _prediction(kind, cluster, rows, left_out, folded_of(found))


def _repays_loading(found: list[Curve], cluster: Cluster, sizes: int) -> bool:
    """Return whether so much is to be run that the compiled loops are worth loading."""
    ways = sum(sum(curve.channels) for curve in found if not curve.by_formula(1))
    messages = cluster.ranks**2 * ways * sizes
    return messages >= (_FAIR_REPAID if cluster.sharing == "fair" else _REPAID)


def _prediction(
    kind: Collective,
    cluster: Cluster,
    rows: list[Row],
    left_out: dict[str, str],
    folded: dict[str, str] | None = None,
) -> Prediction:
    return Prediction(
        cluster.name, kind.name, cluster.ranks, tuple(rows), left_out, folded or {}
    )


def _there(
    name: str, healthy: Cluster, sizes: Sequence[float], algorithm: str, run: dict[str, Any]
) -> dict[tuple[float, str | None], Row]:
    """Return rows of another cluster by size and, unless any will do, algorithm."""
    try:
        rows = predict(name, healthy, sizes, algorithm, **run).rows
    except InputError:
        # A change of its size may leave a root or an algorithm without a place there.
        return {}
    return {(row.size, None if algorithm in FAMILIES else row.algorithm): row for row in rows}


def _compared(rows: list[Row], there: dict[tuple[float, str | None], Row]) -> list[Row]:
    """Return rows beside their times on another cluster."""
    found = []
    for row in rows:
        other = there.get((row.size, row.algorithm), there.get((row.size, None)))
        if other is not None:
            time = other.time_us
            row = replace(  # noqa: PLW2901 - the same row, and more of it
                row,
                healthy_algorithm=other.algorithm,
                healthy_us=time,
                change=row.time_us / time if time else None,
            )
        found.append(row)
    return found


def _row(
    kind: Collective, curve: Curve, size: float, time: Time, bound: float, dtype: str, op: str
) -> Row:
    made = Made(
        algorithm=curve.name,
        protocol=None,
        chunks=time.chunks,
        channels=time.channels,
        model=time.model,
        seconds=time.seconds,
        parts=time.breakdown,
    )
    root = curve.root if kind.rooted else None
    return made_row(kind, curve.cluster, size, made, bound, dtype, op, root)
