"""Measured schedules beside what the model of messages between pairs predicts for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from collsim.algorithms import build, find
from collsim.core.cluster import Cluster
from collsim.core.measurements_format import MeasuredRow
from collsim.core.schedule import Schedule
from collsim.engine.simulate import simulate

__all__ = ["Compared", "compare"]


@dataclass(frozen=True)
class Compared:
    """A measured time and a predicted one.

    Parameters
    ----------
    row : mapping
        The measured row.
    predicted : float
        Seconds that the model says.
    """

    row: MeasuredRow
    predicted: float

    @property
    def ratio(self) -> float:
        """Measured time divided by the predicted one."""
        return float(self.row["seconds"]) / self.predicted


def compare(rows: Iterable[MeasuredRow], cluster: Cluster) -> list[Compared]:
    """Return the rows of our own schedules on as many ranks, each with its prediction.

    Examples
    --------
    >>> row = {"runs": "schedule", "collective": "broadcast", "algorithm": "mst", "ranks": 4,
    ...        "size": 1000, "seconds": 5e-6}
    >>> round(compare([row], Cluster.ideal(4, "1us", "1GB/s"))[0].ratio, 9)
    1.25
    """
    found = []
    node = None if cluster.nodes == 1 else tuple(map(int, cluster.node))
    for row in rows:
        if row.get("runs") != "schedule" or row["ranks"] != cluster.ranks:
            continue
        schedule = _built(
            row["collective"], row["algorithm"], row["ranks"], row.get("root", 0),
            row.get("chunks", 1), node,
        )  # fmt: skip
        found.append(Compared(row, simulate(schedule, cluster, row["size"]).makespan))
    return [pair for pair in found if pair.predicted > 0]


@cache
def _built(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int,
    chunks: int,
    node: tuple[int, ...] | None,
) -> Schedule:
    cut = chunks if find(collective, algorithm).chunked else 1
    return build(collective, algorithm, ranks, root, cut, node=node)
