"""Links in configuration files: presets by name, or tables with numbers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from collsim.config.document import RealKind, Table, read_table
from collsim.config.presets import preset_names, preset_path
from collsim.config.values import PROVENANCE
from collsim.core.link import LinkClass
from collsim.errors import ConfigError, InputError, UnknownNameError, nearest
from collsim.units import format_time

__all__ = [
    "SCHEMA",
    "SEPARATOR",
    "LinkSpec",
    "Number",
    "fastest_link",
    "preset_link",
    "read_link",
    "take_link",
]

SCHEMA = "collsim/link/1"
SEPARATOR = " | "  # between the sources of the numbers of a link

_NUMBERS: Final[Mapping[str, RealKind]] = {
    "bandwidth": "bandwidth",
    "alpha": "time",
    "alpha_busy": "time",
}
_KEYS = ("name", "summary", *_NUMBERS, "source", "kind")


@dataclass(frozen=True)
class Number:
    """A number of a file, and where it is from.

    Parameters
    ----------
    value : float
        SI.
    source : str
        Where it is from, in words.
    kind : str
        ``datasheet``, ``fit`` or ``assumption``.
    """

    value: float
    source: str
    kind: str


@dataclass(frozen=True)
class LinkSpec:
    """A link of a file, with the source of each number.

    Parameters
    ----------
    name, summary : str
        Its name, and what it is in a line.
    numbers : dict of str to Number
        ``bandwidth``, ``alpha``, and ``alpha_busy`` where the file gives it.
    link : LinkClass
        The same numbers for a cluster; its kind is that of the weakest of them.
    family : str
        One of FAMILIES for a preset.
    """

    name: str
    summary: str
    numbers: dict[str, Number]
    link: LinkClass
    family: str = ""


@cache
def preset_link(name: str) -> LinkSpec:
    """Return a preset link.

    Raises
    ------
    UnknownNameError
        If there is no preset of that name.

    Examples
    --------
    >>> preset_link("nvlink4").link.bandwidth
    450000000000.0
    """
    file = str(preset_path("links", name))
    table = read_table(file, SCHEMA)
    if "name" not in table:
        raise ConfigError.missing_key(file, "name", "text")
    family = table.take("family", "family")
    return replace(read_link(table, name, extra=("schema", "family")), family=family)


def fastest_link() -> LinkClass:
    """Return the preset link of the largest bandwidth, for a look at what is plausible.

    Memory is no link between GPUs.

    Examples
    --------
    >>> fastest_link().bandwidth >= preset_link("nvlink4").link.bandwidth
    True
    """
    links = (preset_link(n).link for n in preset_names("links") if not n.startswith("hbm"))
    return max(links, key=lambda link: link.bandwidth)


def take_link(table: Table, key: str, default_name: str) -> LinkClass:
    """Return the link that a key of a table names, or holds as a table of its own.

    Parameters
    ----------
    table : Table
        For example ``[node]``.
    key : str
        For example ``"link"``.
    default_name : str
        Name of a link that is given by its numbers without one.

    Raises
    ------
    ConfigError
        If it is missing, no preset, or not a good link.
    """
    expected = "the name of a link preset, or a table with alpha and bandwidth"
    if key not in table:
        raise ConfigError.missing_key(table.file, table.key(key), expected)
    value = table.data[key]
    if isinstance(value, dict):
        return read_link(table.table(key), default_name).link
    if not isinstance(value, str):
        raise table.refuse(key, expected)
    try:
        return preset_link(value).link
    except UnknownNameError:
        known = preset_names("links")
        hint = _hint(value, known)
        raise table.refuse(
            key, f"a link preset ({', '.join(known)}) or a table{hint}"
        ) from None


def _hint(value: str, known: tuple[str, ...]) -> str:
    """Return which preset may be meant: the nearest by its name, or those of the rate."""
    meant = nearest(value, known)
    rate = re.search(r"\d{2,}", value)
    same = [name for name in known if rate and re.search(rf"(?<!\d){rate[0]}(?!\d)", name)]
    if same and (meant not in same):
        return f"; did you mean {' or '.join(map(repr, same))}?"
    return f"; did you mean {meant!r}?" if meant else ""


def read_link(table: Table, default_name: str, extra: tuple[str, ...] = ()) -> LinkSpec:
    """Return the link that a table describes.

    Parameters
    ----------
    table : Table
        With ``alpha``, ``bandwidth`` and perhaps ``alpha_busy``, each as text or as a
        table ``{value, source, kind}``; ``source`` and ``kind`` hold for the former.
    default_name : str
        Its name unless the table has one.
    extra : tuple of str
        Further keys that may be there.
    """
    table.only((*extra, *_KEYS))
    source = table.take("source", "text", f"given in {table.file}")
    kind = table.take("kind", "kind", "assumption")
    numbers = {
        key: _number(table, key, source, kind)
        for key in _NUMBERS
        if key in table or key != "alpha_busy"
    }
    name = table.take("name", "text", default_name)
    alpha, busy = numbers["alpha"].value, numbers.get("alpha_busy")
    if busy is not None and busy.value > alpha:
        key = table.key("alpha_busy")
        limit = f"a time from 0 to alpha, {format_time(alpha)}"
        raise ConfigError(table.file, key, format_time(busy.value), limit)
    try:
        link = LinkClass(
            name=name,
            alpha=alpha,
            bandwidth=numbers["bandwidth"].value,
            alpha_busy=None if busy is None else busy.value,
            source=_join(numbers),
            kind=max((n.kind for n in numbers.values()), key=PROVENANCE.index),
        )
    except InputError as error:
        where = f"{table.where}: " if table.where else ""
        raise ConfigError.broken(table.file, f"{where}{error}") from None
    return LinkSpec(name, table.take("summary", "text", ""), numbers, link)


def _number(table: Table, key: str, source: str, kind: str) -> Number:
    read_as = _NUMBERS[key]
    if not isinstance(table.data.get(key), dict):
        return Number(table.take(key, read_as), source, kind)
    inner = table.table(key)
    inner.only(("value", "source", "kind"))
    return Number(
        inner.take("value", read_as),
        inner.take("source", "text", source),
        inner.take("kind", "kind", kind),
    )


def _join(numbers: dict[str, Number]) -> str:
    """Say where all numbers are from; each on its own where they differ."""
    if len({(n.source, n.kind) for n in numbers.values()}) == 1:
        return next(iter(numbers.values())).source
    return SEPARATOR.join(f"{key} ({n.kind}): {n.source}" for key, n in numbers.items())
