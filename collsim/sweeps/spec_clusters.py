"""Clusters of a grid's file in all their sizes, and what is changed of them or broken."""

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Final, TypeVar

from collsim.config.changes import parse_changes
from collsim.config.document import Table
from collsim.config.presets import is_path, preset_path
from collsim.config.spec import read_spec
from collsim.config.values import outside, shown
from collsim.errors import CollsimError, ConfigError
from collsim.sweeps.point import Change, Place
from collsim.sweeps.spec_values import count, part, refused, several, text
from collsim.units import parse_time

__all__ = ["change_of", "places_of"]

T = TypeVar("T")

_CLUSTER: Final = (
    "cluster", "nodes", "gpus_per_node", "ranks", "alpha", "bandwidth", "sharing",
)  # fmt: skip
_CHANGE: Final = ("name", "set", "degrade", "fail", "delay")


def places_of(table: Table) -> Iterator[Place]:
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
    names = (None,) if ideal else several(table, "cluster", _cluster)
    nodes, gpus, ranks = (
        several(table, key, count, (None,)) for key in ("nodes", "gpus_per_node", "ranks")
    )
    sharing = table.take("sharing", "sharing", None)
    alpha = table.take("alpha", "time") if ideal else None
    bandwidth = table.take("bandwidth", "bandwidth") if ideal else None
    for one in product(names, nodes, gpus, ranks):
        yield Place(*one, alpha, bandwidth, sharing)


def _cluster(table: Table, key: str, value: object) -> str:
    """Return a preset's name, or the path of a file that can be read as a cluster."""
    name = str(text(table, key, value))
    try:
        if not is_path(name):
            preset_path("clusters", name)
            return name
        path = os.path.join(os.path.dirname(table.file), os.path.expanduser(name))
        read_spec(path)
    except CollsimError as error:
        raise refused(table, key, error) from None
    return path if is_path(path) else f"./{path}"


def change_of(table: Table) -> Change:
    """Return what one table changes of every cluster."""
    table.only(_CHANGE)
    if table.data and "name" not in table:
        raise ConfigError.missing_key(table.file, table.key("name"), "what rows call it")
    texts = several(table, "set", text, ())
    try:
        parse_changes(texts)
    except CollsimError as error:
        raise refused(table, "set", error) from None
    return Change(
        name=table.take("name", "text", ""),
        set=texts,
        degrade=tuple(_pairs(table, "degrade", part)),
        fail=several(table, "fail", text, ()),
        delay=tuple(_pairs(table, "delay", _late)),
    )


def _pairs(
    table: Table, key: str, read: Callable[[Table, str, object], T]
) -> Iterator[tuple[str, T]]:
    inner: Mapping[str, object] = table.table(key).data
    for name, value in inner.items():
        yield name, read(table.table(key), name, value)


def _late(table: Table, key: str, value: object) -> float:
    try:
        seconds = parse_time(value) if isinstance(value, str) else None
    except CollsimError as error:
        raise refused(table, key, error) from None
    if seconds is None or outside(seconds, "s"):
        raise ConfigError(table.file, table.key(key), shown(value), 'a time such as "500us"')
    return seconds
