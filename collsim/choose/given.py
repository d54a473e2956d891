"""Times of a schedule that somebody brings, as rows beside those of our algorithms."""

from collections.abc import Iterable
from dataclasses import replace

from collsim.choose.rows import Made, Prediction, Row, made_row
from collsim.core.cluster import Cluster
from collsim.core.collective import OPS
from collsim.core.dtype import element_size
from collsim.core.schedule import Schedule
from collsim.engine.bound import lower_bound
from collsim.engine.simulate import Simulation
from collsim.errors import InputError, UnknownNameError
from collsim.units import parse_size

__all__ = ["beside", "predict_schedule"]


def predict_schedule(
    schedule: Schedule,
    name: str,
    cluster: Cluster,
    sizes: float | str | Iterable[float | str],
    *,
    dtype: str = "float",
    op: str = "sum",
    healthy: Cluster | None = None,
) -> Prediction:
    """Predict the time of a schedule, from whatever source, at some sizes.

    Parameters
    ----------
    schedule : Schedule
        What runs; it is not verified here.
    name : str
        What the rows call it.
    cluster : Cluster
        Where it runs, with as many ranks.
    sizes, dtype, op, healthy
        As in :func:`collsim.choose.predict.predict`.

    Returns
    -------
    Prediction
        One row for each size.

    Raises
    ------
    InputError
        If the cluster has another number of ranks.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> mine = build("broadcast", "mst", 4)
    >>> cluster = Cluster.ideal(4, "1us", "1GB/s")
    >>> [round(row.time_us) for row in predict_schedule(mine, "mine", cluster, [0, 1000]).rows]
    [2, 4]
    """
    if schedule.ranks != cluster.ranks:
        raise InputError(
            f"{name} is a schedule for {schedule.ranks} ranks, and cluster {cluster.name} has "
            f"{cluster.ranks}, expected as many"
        )
    element_size(dtype)
    if op not in OPS:
        raise UnknownNameError("op", op, OPS)
    given = [sizes] if isinstance(sizes, int | float | str) else sizes
    wanted = [parse_size(size) if isinstance(size, str) else size for size in given]
    kind = schedule.collective
    simulation = Simulation(schedule, cluster)
    channels = int(schedule.channel.max(initial=0)) + 1
    rows: list[Row] = []
    for size in wanted:
        timeline = simulation.run(size)
        made = Made(name, None, 1, channels, "event", timeline.makespan, timeline.breakdown)
        root = schedule.root if kind.rooted else None
        bound = lower_bound(kind, cluster, size)
        rows.append(made_row(kind, cluster, size, made, bound, dtype, op, root))
    if healthy is not None and healthy.ranks == schedule.ranks:
        there = Simulation(schedule, healthy)
        rows = [_compared(row, there.makespan(row.size) * 1e6) for row in rows]
    return Prediction(cluster.name, kind.name, cluster.ranks, tuple(rows), {})


def _compared(row: Row, time: float) -> Row:
    return replace(
        row,
        healthy_algorithm=row.algorithm,
        healthy_us=time,
        change=row.time_us / time if time else None,
    )


def beside(ours: Prediction, own: Prediction) -> Prediction:
    """Return the rows of our algorithms, and after those of a size the one of a schedule."""
    rows = [
        row
        for size in dict.fromkeys(row.size for row in own.rows)
        for answer in (ours, own)
        for row in answer.rows
        if row.size == size
    ]
    return replace(ours, rows=tuple(rows))
