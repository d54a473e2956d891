"""Grids as a TOML file says them, read strictly."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

from collsim.choose.curve import MODELS
from collsim.choose.specs import having
from collsim.config.document import Table, read_table
from collsim.config.presets import is_path
from collsim.core.collective import OPS
from collsim.core.dtype import element_size
from collsim.errors import CollsimError, ConfigError
from collsim.files import read_text
from collsim.nccl.families import SEVERAL
from collsim.sweeps.point import Change, Place, Point
from collsim.sweeps.spec_clusters import change_of, places_of
from collsim.sweeps.spec_values import (
    MOST,
    collective_of,
    count,
    refused,
    several,
    sizes_of,
    tables,
    text,
)

__all__ = ["Grid", "read_grid", "table_grid"]

_SCHEMA: Final = "collsim/grid/1"
_TOP: Final = (
    "schema", "summary", "collectives", "algorithms", "sizes", "clusters", "changes",
    "root", "dtype", "op", "chunks", "channels", "model",
)  # fmt: skip


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
    return table_grid(read_table(file, _SCHEMA))


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
    kinds = several(top, "collectives", collective_of)
    asked = several(top, "algorithms", text, ("auto",))
    _check_algorithms(top, asked)
    sizes = sizes_of(top)
    places = tuple(place for table in tables(top, "clusters") for place in places_of(table))
    changes = tuple(change_of(table) for table in tables(top, "changes", [{}]))
    names = [change.name for change in changes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError.broken(top.file, f"changes: {twice!r} is the name of two")
    run = tuple(_run(top))
    rows = len(places) * len(changes) * len(kinds) * len(asked) * len(sizes)
    if rows > MOST:
        raise ConfigError.broken(top.file, f"makes {rows:,} rows, expected at most {MOST:,}")
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


def _check_algorithms(top: Table, asked: tuple[str, ...]) -> None:
    named = [name for name in asked if name not in SEVERAL]
    try:
        having(named)
    except CollsimError as error:
        raise refused(top, "algorithms", error) from None


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
                error if isinstance(error, ConfigError) else refused(top, "dtype", error)
            ) from None
        yield "dtype", top.data["dtype"]
    for key, known in (("op", OPS), ("model", MODELS)):
        if key in top:
            if top.data[key] not in known:
                raise top.refuse(key, f"one of {', '.join(known)}")
            yield key, top.data[key]
    for key in ("chunks", "channels"):
        if key in top:
            yield key, several(top, key, count)
