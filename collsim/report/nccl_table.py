"""Predictions in the shape of nccl-tests' table."""

from collections.abc import Sequence
from typing import Final

from collsim.choose.predict import Prediction, Row
from collsim.report.table import format_number, format_us

__all__ = ["nccl_table"]

_TITLES: Final = ("size", "count", "type", "redop", "root", "time", "algbw", "busbw")
_WIDTHS: Final = (10, 12, 8, 6, 6, 8, 8, 8)


def nccl_table(prediction: Prediction, network: str, compared: bool = False) -> str:
    """Return a prediction as nccl-tests prints a measurement.

    The first columns are nccl-tests' own, in its order and width; what follows says
    what was timed.

    Parameters
    ----------
    prediction : Prediction
        What to print.
    network : str
        What the cluster is, for the first line.
    compared : bool
        Whether to print the times on the healthy cluster, and the change against them.

    Examples
    --------
    >>> from collsim.choose.predict import predict
    >>> from collsim.core.cluster import Cluster
    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> text = nccl_table(predict("all_reduce", cluster, 1024, "mst"), cluster.shape)
    >>> print(text.splitlines()[-1])
            1024  256  float  sum  -1  60.01  0.0171  0.0299  mst  -  1  formula  50.0%
    """
    rows = prediction.rows
    width = max([len("algorithm"), *(len(row.algorithm) for row in rows)])
    where = f"{_count(prediction.ranks)} of {prediction.cluster} ({network})"
    several = any(row.channels > 1 for row in rows)
    parallel = ("channels",) if several else ()
    # Every row is of the one cluster.
    where += "".join(f", sharing {row.sharing}" for row in rows[:1])
    last = (f"{'algorithm':<{width}}", "protocol", "chunks", *parallel, "model  ", "efficiency")
    more = (f"{'healthy':>8}", f"{'change':>7}") if compared else ()
    units = ("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)")
    lines = [
        f"# collsim: {prediction.collective} on {where}, predicted",
        "#",
        "# " + "  ".join((*_set(_TITLES), *last, *more)),
        "# " + "  ".join(_set(units)),
    ]
    lines += [_line(row, width, several) + (_change(row) if compared else "") for row in rows]
    return "\n".join(lines)


def _set(titles: Sequence[str]) -> list[str]:
    return [f"{title:>{width}}" for title, width in zip(titles, _WIDTHS, strict=True)]


def _line(row: Row, width: int, several: bool) -> str:
    channels = f"  {row.channels:>8}" if several else ""
    efficiency = "-" if row.efficiency is None else f"{row.efficiency:.1%}"
    return (
        f"{row.size:>12}  {row.count:>12}  {row.dtype:>8}  {row.op or 'none':>6}  "
        f"{-1 if row.root is None else row.root:>6}  {format_us(row.time_us):>8}  "
        f"{format_number(row.algbw):>8}  {format_number(row.busbw):>8}  "
        f"{row.algorithm:<{width}}  {row.protocol or '-':<8}  {row.chunks:>6}{channels}  "
        f"{row.model:<7}  "
        f"{efficiency:>10}"
    )


def _change(row: Row) -> str:
    healthy = "-" if row.healthy_us is None else format_us(row.healthy_us)
    change = "-" if row.change is None else f"x{row.change:.4g}"
    return f"  {healthy:>8}  {change:>7}"


def _count(ranks: int) -> str:
    return "1 rank" if ranks == 1 else f"{ranks} ranks"
