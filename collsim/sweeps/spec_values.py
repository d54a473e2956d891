"""Values of a grid's file: one or several of each, and sizes as a list or a range."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from collsim.config.document import Table
from collsim.config.values import shown
from collsim.core.collective import collective
from collsim.errors import CollsimError, ConfigError
from collsim.units import parse_size

__all__ = [
    "MOST",
    "collective_of",
    "count",
    "part",
    "refused",
    "several",
    "sizes_of",
    "tables",
    "text",
]

T = TypeVar("T")

MOST: Final = 5_000_000
"""Rows; a grid of more is a mistake in a step."""
_RANGE: Final = ("from", "to", "factor", "step")


def refused(table: Table, key: str, error: CollsimError) -> ConfigError:
    """Return an error as that of a key of the file."""
    return ConfigError.broken(table.file, f"{table.key(key)}: {error}")


def several(
    table: Table,
    key: str,
    read: Callable[[Table, str, object], T],
    default: tuple[T, ...] | None = None,
) -> tuple[T, ...]:
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


def text(table: Table, key: str, value: object) -> str:
    """Return a value that has to be text."""
    return _alone(table, key, value).take(key, "text")


def count(table: Table, key: str, value: object) -> int:
    """Return a value that has to be a whole number from 1 up."""
    return _alone(table, key, value).take(key, "count")


def part(table: Table, key: str, value: object) -> float:
    """Return a value that has to be above 0 and at most 1."""
    return _alone(table, key, value).take(key, "part")


def _alone(table: Table, key: str, value: object) -> Table:
    return Table(table.file, {key: value}, table.where)


def collective_of(table: Table, key: str, value: object) -> str:
    """Return the name of a collective in any spelling."""
    try:
        return collective(text(table, key, value)).name
    except CollsimError as error:
        raise error if isinstance(error, ConfigError) else refused(table, key, error) from None


def _size(table: Table, key: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**60:
        return value
    if isinstance(value, str):
        try:
            return parse_size(value)
        except CollsimError as error:
            raise refused(table, key, error) from None
    raise ConfigError(
        table.file, table.key(key), shown(value), 'a size such as 1024 or "64MiB"'
    )


def sizes_of(top: Table) -> tuple[int, ...]:
    """Return the sizes of a grid in bytes: a list, or from one to another."""
    if not isinstance(top.data.get("sizes"), dict):
        return several(top, "sizes", _size)
    table = top.table("sizes")
    table.only(_RANGE)
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
    if step and (last - first) // step >= MOST:
        raise ConfigError.broken(top.file, f"sizes: more than {MOST:,} of them")
    found = [first]
    while (size := found[-1] + step if step else max(1, found[-1] * factor)) <= last:
        found.append(size)
    return tuple(found)


def tables(
    top: Table, key: str, default: Sequence[Mapping[str, object]] | None = None
) -> Iterator[Table]:
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
