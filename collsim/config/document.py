"""TOML tables read strictly: every value by its kind, and no key that nobody knows."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeVar, overload

from collsim.config.toml import parse_toml
from collsim.config.values import KINDS, RefusedError, shown
from collsim.core.schema import expected_schema
from collsim.errors import ConfigError
from collsim.files import read_text

__all__ = ["REQUIRED", "RealKind", "Table", "parse_table", "read_table"]

REQUIRED: Final = object()

D = TypeVar("D")
TextKind = Literal["text", "sharing", "family", "kind"]
WholeKind = Literal["count", "size"]
RealKind = Literal["number", "part", "time", "bandwidth", "time per byte"]


class Table:
    """One table of a TOML file.

    Parameters
    ----------
    file : str
        The file, as the user named it.
    data : dict
        What it holds.
    where : str
        Its dotted name in the file; empty for the whole file.

    Examples
    --------
    >>> table = Table("my.toml", {"gpus": 8, "lnik": "nvlink4"})
    >>> table.take("gpus", "count")
    8
    >>> table.only(["gpus", "link"])
    Traceback (most recent call last):
    collsim.errors.ConfigError: my.toml: lnik: unknown key; did you mean 'link'? ...
    """

    def __init__(self, file: str, data: Mapping[str, object], where: str = "") -> None:
        self.file = file
        self.data = data
        self.where = where

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def key(self, key: str) -> str:
        """Return the dotted name of one of its keys."""
        return f"{self.where}.{key}" if self.where else key

    def only(self, known: Iterable[str]) -> None:
        """Raise ConfigError for the first key that is not known, naming the nearest."""
        known = tuple(known)
        for key in self.data:
            if key not in known:
                raise ConfigError.unknown_key(self.file, self.key(key), known)

    @overload
    def take(self, key: str, kind: TextKind) -> str: ...
    @overload
    def take(self, key: str, kind: TextKind, default: D) -> str | D: ...
    @overload
    def take(self, key: str, kind: WholeKind) -> int: ...
    @overload
    def take(self, key: str, kind: WholeKind, default: D) -> int | D: ...
    @overload
    def take(self, key: str, kind: RealKind) -> float: ...
    @overload
    def take(self, key: str, kind: RealKind, default: D) -> float | D: ...
    @overload
    def take(self, key: str, kind: Literal["flag"], default: bool) -> bool: ...
    @overload
    def take(self, key: str, kind: str, default: object = ...) -> object: ...

    def take(self, key: str, kind: str, default: object = REQUIRED) -> object:
        """Return a value, read by its kind.

        Parameters
        ----------
        key : str
            Its key.
        kind : str
            A key of :data:`collsim.config.values.KINDS`.
        default : object
            What to return if it is missing; an error without.

        Raises
        ------
        ConfigError
            If it is missing, or not of that kind.
        """
        read, expected = KINDS[kind]
        if key not in self.data:
            if default is REQUIRED:
                raise ConfigError.missing_key(self.file, self.key(key), expected)
            return default
        try:
            return read(self.data[key])
        except RefusedError as refused:
            raise self.refuse(key, str(refused) or expected) from None

    def table(self, key: str) -> "Table":
        """Return a table inside this one; an empty one if it is missing."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.refuse(key, "a table")
        return Table(self.file, value, self.key(key))

    def refuse(self, key: str, expected: str) -> ConfigError:
        """Return the error for a value that is not what was expected."""
        return ConfigError(self.file, self.key(key), shown(self.data[key]), expected)


def read_table(file: str, schema: str) -> Table:
    """Read a TOML file that has to be of one schema.

    Parameters
    ----------
    file : str
        Its path.
    schema : str
        What its key ``schema`` must say.

    Raises
    ------
    FileError
        If it is missing, a directory or not UTF-8.
    ConfigError
        If it is no TOML (with line and column), or of another schema.
    """
    return parse_table(file, read_text(file), schema)


def parse_table(file: str, text: str, schema: str) -> Table:
    """Return the table that a text of a file is; see :func:`read_table`.

    Examples
    --------
    >>> parse_table("my.toml", 'schema = "collsim/link/1"', "collsim/link/1").data
    {'schema': 'collsim/link/1'}
    """
    data = parse_toml(file, text)
    table = Table(file, data)
    if "schema" not in data:
        raise ConfigError.missing_key(file, "schema", f'schema = "{schema}"')
    if data["schema"] != schema:
        raise table.refuse("schema", expected_schema(schema, data["schema"]))
    return table
