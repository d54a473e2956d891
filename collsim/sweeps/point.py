"""One point of a grid: a collective, an algorithm and a cluster, at all sizes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, cast

from collsim.choose.predict import predict
from collsim.choose.rows import COMPARED, Row
from collsim.config.changes import parse_changes
from collsim.config.presets import is_path
from collsim.core.cluster import Cluster
from collsim.errors import CollsimError, InputError
from collsim.report.records import check_finite
from collsim.report.sweep_table import Record
from collsim.topology import hurt

__all__ = ["COLUMNS", "Change", "Place", "Point", "Record", "failed", "run"]


_POINT: Final = ("sweep", "point", "cluster", "nodes", "ranks", "change", "collective", "asked")
_ROW: Final = tuple(field.name for field in fields(Row) if field.name not in COMPARED)
COLUMNS: Final = (*_POINT, *_ROW, "reason")


@dataclass(frozen=True)
class Place:
    """A cluster at one size, as a grid names it; None is what its file says.

    Parameters
    ----------
    cluster : str or None
        A preset or a file; None makes an ideal network.
    nodes, gpus_per_node, ranks : int, optional
        As in :meth:`collsim.Cluster.load`.
    alpha, bandwidth : float, optional
        Seconds and bytes per second of an ideal network.
    sharing : str, optional
        How messages share links there.
    """

    cluster: str | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    ranks: int | None = None
    alpha: float | None = None
    bandwidth: float | None = None
    sharing: str | None = None

    @property
    def name(self) -> str:
        """What rows call it."""
        return "ideal" if self.cluster is None else self.cluster

    def load(self, changes: Mapping[str, object]) -> Cluster:
        """Return the cluster, with some of its file changed."""
        if self.cluster is None:
            if changes:
                raise InputError(
                    f"set: an ideal network has no {next(iter(changes))}, expected a cluster"
                )
            ranks = 8 if self.ranks is None else self.ranks
            found = Cluster.ideal(ranks, self.alpha or 0.0, self.bandwidth or 0.0)
        else:
            found = Cluster.load(
                self.cluster,
                nodes=self.nodes,
                gpus_per_node=self.gpus_per_node,
                ranks=self.ranks,
                changes=changes,
            )
        sharing = self.sharing or changes.get("sharing")
        return replace(found, sharing=sharing) if isinstance(sharing, str) else found


@dataclass(frozen=True)
class Change:
    """What is changed of every cluster, or wrong with it.

    Parameters
    ----------
    name : str
        What rows call it; empty for none.
    set, fail : tuple of str
        ``"network.bandwidth=100GB/s"``; ``"nic[3]"``.
    degrade, delay : tuple of (str, float)
        The share of bandwidth that is left of a part; seconds by which a rank is late.
    """

    name: str = ""
    set: tuple[str, ...] = ()
    degrade: tuple[tuple[str, float], ...] = ()
    fail: tuple[str, ...] = ()
    delay: tuple[tuple[str, float], ...] = ()

    def of(self, place: Place) -> Cluster:
        """Return the changed cluster."""
        cluster = place.load(parse_changes(self.set))
        return hurt(cluster, self.degrade, self.fail, self.delay)


@dataclass(frozen=True)
class Point:
    """What is predicted together: all sizes of it share one schedule.

    Parameters
    ----------
    sweep : str
        Which grid it is of.
    number : int
        Its place there, from 0.
    place, change : Place, Change
        Where it runs.
    collective, algorithm : str
        What runs.
    sizes : tuple of int
        Bytes, n.
    run : tuple of (str, value)
        Further arguments of :func:`collsim.predict`: ``root``, ``dtype``, ``op``, ``chunks``,
        ``channels``, ``model``.
    """

    sweep: str
    number: int
    place: Place
    change: Change
    collective: str
    algorithm: str
    sizes: tuple[int, ...]
    run: tuple[tuple[str, object], ...] = ()


def run(point: Point) -> list[Record]:
    """Return the rows of a point; one that has no answer has its reason instead.

    Examples
    --------
    >>> place = Place(ranks=4, alpha=1e-6, bandwidth=1e9)
    >>> rows = run(Point("0", 0, place, Change(), "all_reduce", "ring", (1000,)))
    >>> round(rows[0]["time_us"], 6), rows[0]["reason"]
    (7.5, None)
    """
    try:
        cluster = point.change.of(point.place)
    except (CollsimError, MemoryError) as error:
        return failed(point, _reason(error))
    try:
        return list(_rows(point, cluster, point.sizes))
    except (CollsimError, MemoryError) as error:
        if len(point.sizes) == 1:
            return failed(point, _reason(error), cluster)
    # Some of the sizes may have an answer: each for itself.
    found: list[Record] = []
    for size in point.sizes:
        try:
            found += _rows(point, cluster, (size,))
        except (CollsimError, MemoryError) as error:
            found += failed(replace(point, sizes=(size,)), _reason(error), cluster)
    return found


def _rows(point: Point, cluster: Cluster, sizes: tuple[int, ...]) -> Iterator[Record]:
    ask: Callable[..., Any] = predict
    answer = ask(point.collective, cluster, sizes, point.algorithm, **dict(point.run))
    head = _head(point, cluster)
    for row in answer.rows:
        told = {key: value for key, value in asdict(row).items() if key in _ROW}
        check_finite(told)
        yield cast(Record, {**head, **told, "reason": None})


def failed(point: Point, reason: str, cluster: Cluster | None = None) -> list[Record]:
    """Return the rows of a point without an answer: one for each size, with the reason."""
    head = {**dict.fromkeys(COLUMNS), **_head(point, cluster), "reason": reason}
    return [cast(Record, {**head, "size": size}) for size in point.sizes]


def _head(point: Point, cluster: Cluster | None) -> Record:
    place = point.place
    return {
        "sweep": point.sweep,
        "point": point.number,
        "cluster": place.name if not is_path(place.name) or cluster is None else cluster.name,
        "nodes": place.nodes if cluster is None else cluster.nodes,
        "ranks": place.ranks if cluster is None else cluster.ranks,
        "change": point.change.name or None,
        "collective": point.collective,
        "asked": point.algorithm,
    }


def _reason(error: Exception) -> str:
    return str(error) or "out of memory; expected fewer ranks, chunks or sizes"
