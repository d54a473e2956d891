"""Grids as a TOML file says them, read strictly."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

from collsim.choose.curve import MODELS
from collsim.choose.specs import having
from collsim.config.changes import parse_changes
from collsim.config.document import Table, read_table
from collsim.config.presets import is_path, preset_path
from collsim.config.spec import read_spec
from collsim.config.values import outside, shown
from collsim.core.collective import OPS, collective
from collsim.core.dtype import element_size
from collsim.errors import CollsimError, ConfigError
from collsim.files import read_text
from collsim.sweeps.point import Change, Place, Point
from collsim.units import parse_size, parse_time

__all__ = ["SCHEMA", "Grid", "read_grid", "table_grid"]

SCHEMA: Final = "collsim/sweep/1"
# A grid of more rows is a mistake in a step.
_MOST: Final = 5_000_000
_TOP: Final = (
    "schema", "summary", "collectives", "algorithms", "sizes", "clusters", "changes",
    "root", "dtype", "op", "chunks", "channels", "model",
)  # fmt: skip
_CLUSTER: Final = (
    "cluster", "nodes", "gpus_per_node", "ranks", "alpha", "bandwidth", "sharing",
)  # fmt: skip
_CHANGE: Final = ("name", "set", "degrade", "fail", "delay")
_SIZES: Final = ("from", "to", "factor", "step")


@dataclass(frozen=True)
class Grid:
    """Every point of a grid, in order: clusters outermost, then changes, collectives.

    Parameters
    ----------
    file : str
        Where it was read.
    name : str
        Twelve letters that tell it from every other grid, also from itself before a change
        of its file, or of a cluster file that it names.
    points : tuple of Point
        What is predicted.
    """

    file: str
    name: str
    points: tuple[Point, ...]

    @property
    def sizes(self) -> int:
        """Number of sizes over all points: of rows, where each size has one."""
        return sum(len(point.sizes) for point in self.points)


def read_grid(file: str) -> Grid:
    """Read a grid from a TOML file.

    Parameters
    ----------
    file : str
        Its path; cluster files that it names are found from its folder.

    Raises
    ------
    FileError
        If it can't be read.
    ConfigError
        If it is no TOML, or a key is unknown, missing or of a wrong kind.
    """
    return table_grid(read_table(file, SCHEMA))


def table_grid(top: Table) -> Grid:
    """Return the grid that a table says.

    Examples
    --------
    >>> table = Table("my.toml", {
    ...     "collectives": "all_reduce", "sizes": ["1KiB", 10**6],
    ...     "clusters": [{"cluster": "dgx-h100", "nodes": [1, 2]}],
    ... })
    >>> [(p.place.nodes, p.collective, p.sizes) for p in table_grid(table).points]
    [(1, 'all_reduce', (1024, 1000000)), (2, 'all_reduce', (1024, 1000000))]
    """
    top.only(_TOP)
    kinds = _several(top, "collectives", _collective)
    asked = _several(top, "algorithms", _text, ("auto",))
    _check_algorithms(top, asked)
    sizes = _sizes(top)
    places = tuple(place for table in _tables(top, "clusters") for place in _places(table))
    changes = tuple(_change(table) for table in _tables(top, "changes", [{}]))
    names = [change.name for change in changes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError.broken(top.file, f"changes: {twice!r} is the name of two")
    run = tuple(_run(top))
    rows = len(places) * len(changes) * len(kinds) * len(asked) * len(sizes)
    if rows > _MOST:
        raise ConfigError.broken(top.file, f"makes {rows:,} rows, expected at most {_MOST:,}")
    grid = list(product(places, changes, kinds, asked))
    name = _name(grid, sizes, run)
    points = [Point(name, i, *one, sizes, run) for i, one in enumerate(grid)]
    return Grid(top.file, name, tuple(points))


def _name(grid: list[tuple[Place, Change, str, str]], *more: Any) -> str:
    """Return letters of a digest of what a grid says, and of the cluster files in it."""

    def plain(place: Place) -> dict[str, Any]:
        name = place.cluster
        # Wherever the file lies, what it holds is what counts.
        return asdict(place) | ({"cluster": texts[name]} if name in texts else {})

    named = {place.cluster for place, *_ in grid}
    texts = {name: read_text(name) for name in named if name is not None and is_path(name)}
    said = [[plain(place), asdict(change), *names] for place, change, *names in grid]
    text = json.dumps([said, more], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _refused(table: Table, key: str, error: CollsimError) -> ConfigError:
    return ConfigError.broken(table.file, f"{table.key(key)}: {error}")


def _several(
    table: Table,
    key: str,
    read: Callable[[Table, str, Any], Any],
    default: tuple[Any, ...] | None = None,
) -> tuple[Any, ...]:
    """Return what a key holds, one value or a list of them."""
    if key not in table:
        if default is None:
            raise ConfigError.missing_key(table.file, table.key(key), "one or a list of them")
        return default
    given = table.data[key]
    values = given if isinstance(given, list) else [given]
    if not values:
        raise ConfigError.broken(table.file, f"{table.key(key)}: an empty list")
    found = [read(table, key, value) for value in values]
    for value in found:
        if found.count(value) > 1:
            raise ConfigError.broken(table.file, f"{table.key(key)}: {value} stands twice")
    return tuple(found)


def _of(kind: str) -> Callable[[Table, str, Any], Any]:
    """Return the reader of a value by its kind."""
    return lambda table, key, value: Table(table.file, {key: value}, table.where).take(
        key, kind
    )


_text = _of("text")
_count = _of("count")


def _collective(table: Table, key: str, value: Any) -> str:
    try:
        return collective(_text(table, key, value)).name
    except CollsimError as error:
        raise error if isinstance(error, ConfigError) else _refused(table, key, error) from None


def _size(table: Table, key: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**60:
        return value
    if isinstance(value, str):
        try:
            return parse_size(value)
        except CollsimError as error:
            raise _refused(table, key, error) from None
    raise ConfigError(
        table.file, table.key(key), shown(value), 'a size such as 1024 or "64MiB"'
    )


def _sizes(top: Table) -> tuple[int, ...]:
    if not isinstance(top.data.get("sizes"), dict):
        return _several(top, "sizes", _size)
    table = top.table("sizes")
    table.only(_SIZES)
    first, last = (
        _size(table, key, table.data.get(key, default))
        for key, default in (("from", 8), ("to", 8 * 2**30))
    )
    if "factor" in table and "step" in table:
        raise ConfigError.broken(top.file, "sizes: has factor and step, expected one of them")
    if first > last:
        raise ConfigError.broken(top.file, f"sizes: from {first} is above to {last}")
    factor = table.take("factor", "count", 2)
    if factor < 2:
        raise table.refuse("factor", "a whole number from 2 up")
    step = _size(table, "step", table.data["step"]) if "step" in table else 0
    if "step" in table and step < 1:
        raise table.refuse("step", "a size from 1 byte up")
    if step and (last - first) // step >= _MOST:
        raise ConfigError.broken(top.file, f"sizes: more than {_MOST:,} of them")
    found = [first]
    while (size := found[-1] + step if step else max(1, found[-1] * factor)) <= last:
        found.append(size)
    return tuple(found)


def _tables(top: Table, key: str, default: list[Any] | None = None) -> Iterator[Table]:
    """Yield the tables of an array of tables."""
    given = top.data.get(key, default)
    if given is None:
        raise ConfigError.missing_key(top.file, key, f"[[{key}]]")
    if not isinstance(given, list) or not given:
        raise top.refuse(key, f"tables, each as [[{key}]]")
    for number, inner in enumerate(given):
        if not isinstance(inner, dict):
            raise ConfigError(top.file, f"{key}[{number}]", shown(inner), "a table")
        yield Table(top.file, inner, f"{key}[{number}]")


def _places(table: Table) -> Iterator[Place]:
    """Yield a cluster in all its sizes."""
    table.only(_CLUSTER)
    ideal = "alpha" in table or "bandwidth" in table
    if "cluster" in table and ideal:
        raise ConfigError.broken(
            table.file, f"{table.where}: has a cluster and alpha or bandwidth, expected one"
        )
    if not ideal and "cluster" not in table:
        raise ConfigError.missing_key(
            table.file, table.key("cluster"), "a preset or a file, or alpha and bandwidth"
        )
    if "ranks" in table and "nodes" in table:
        raise ConfigError.broken(
            table.file, f"{table.where}: ranks takes GPUs of one node, so expected no nodes"
        )
    for key in ("nodes", "gpus_per_node"):
        if ideal and key in table:
            raise ConfigError.broken(
                table.file, f"{table.key(key)}: an ideal network has none, expected ranks"
            )
    names = (None,) if ideal else _several(table, "cluster", _cluster)
    counts = [
        _several(table, key, _count, (None,)) for key in ("nodes", "gpus_per_node", "ranks")
    ]
    sharing = table.take("sharing", "sharing", None)
    alpha, bandwidth = (
        table.take(key, kind) if ideal else None
        for key, kind in (("alpha", "time"), ("bandwidth", "bandwidth"))
    )
    for name, nodes, gpus, ranks in product(names, *counts):
        yield Place(name, nodes, gpus, ranks, alpha, bandwidth, sharing)


def _cluster(table: Table, key: str, value: Any) -> str:
    """Return a preset's name, or the path of a file that can be read as a cluster."""
    name = str(_text(table, key, value))
    try:
        if not is_path(name):
            preset_path("clusters", name)
            return name
        path = os.path.join(os.path.dirname(table.file), os.path.expanduser(name))
        read_spec(path)
    except CollsimError as error:
        raise _refused(table, key, error) from None
    return path if is_path(path) else f"./{path}"


def _change(table: Table) -> Change:
    table.only(_CHANGE)
    if table.data and "name" not in table:
        raise ConfigError.missing_key(table.file, table.key("name"), "what rows call it")
    texts = _several(table, "set", _text, ())
    try:
        parse_changes(texts)
    except CollsimError as error:
        raise _refused(table, "set", error) from None
    return Change(
        name=table.take("name", "text", ""),
        set=texts,
        degrade=tuple(_pairs(table, "degrade", _of("part"))),
        fail=_several(table, "fail", _text, ()),
        delay=tuple(_pairs(table, "delay", _late)),
    )


def _pairs(
    table: Table, key: str, read: Callable[[Table, str, Any], Any]
) -> Iterator[tuple[str, Any]]:
    inner: Mapping[str, Any] = table.table(key).data
    for part, value in inner.items():
        yield part, read(table.table(key), part, value)


def _late(table: Table, key: str, value: Any) -> float:
    try:
        seconds = parse_time(value) if isinstance(value, str) else None
    except CollsimError as error:
        raise _refused(table, key, error) from None
    if seconds is None or outside(seconds, "s"):
        raise ConfigError(table.file, table.key(key), shown(value), 'a time such as "500us"')
    return seconds


def _check_algorithms(top: Table, asked: tuple[str, ...]) -> None:
    named = [name for name in asked if name not in ("auto", "all")]
    try:
        having(named)
    except CollsimError as error:
        raise _refused(top, "algorithms", error) from None


def _run(top: Table) -> Iterator[tuple[str, Any]]:
    """Yield the further arguments of a prediction."""
    if "root" in top:
        root = top.data["root"]
        if isinstance(root, bool) or not isinstance(root, int) or root < 0:
            raise top.refuse("root", "a rank from 0 up")
        yield "root", root
    if "dtype" in top:
        try:
            element_size(top.take("dtype", "text"))
        except CollsimError as error:
            raise (
                error if isinstance(error, ConfigError) else _refused(top, "dtype", error)
            ) from None
        yield "dtype", top.data["dtype"]
    for key, known in (("op", OPS), ("model", MODELS)):
        if key in top:
            if top.data[key] not in known:
                raise top.refuse(key, f"one of {', '.join(known)}")
            yield key, top.data[key]
    for key in ("chunks", "channels"):
        if key in top:
            yield key, _several(top, key, _count)
