"""Clusters whose links are given one by one, in [[links]] and [[routes]]."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from collsim.config.changes import EveryBusy
from collsim.config.document import Table
from collsim.config.links import read_link
from collsim.core.cluster import Cluster
from collsim.core.link import Bundle, LinkClass, Links
from collsim.errors import ConfigError, InputError, nearest
from collsim.topology import listed

__all__ = ["LISTED", "read_listed"]

LISTED: Final = ("links", "routes", "nodes")
# More would be a mistake, and a table of all pairs that does not fit.
_MOST: Final = 4096
_INDEX: Final = re.compile(r"\[\d+\]")
_GPU: Final = re.compile(r"gpu\[(\d{1,9})\]")
_KEYS: Final = ("src", "dst", "link", "lanes", "class")
_COST: Final = ("alpha", "bandwidth", "alpha_busy", "source", "kind")


def read_listed(
    top: Table, name: str, gamma: float, launch: float, busy: EveryBusy
) -> partial[Cluster]:
    """Return what builds the cluster of a file with [[links]].

    Raises
    ------
    ConfigError
        If a link, a route or a node is wrong, or no links lead from one rank to another.
    """
    entries = _tables(top, "links")
    names: dict[str, int] = {}
    classes: dict[str, LinkClass] = {}
    bundles, ends = [], []
    for number, entry in enumerate(entries):
        title = entry.take("name", "text")
        if title in names:
            raise ConfigError(entry.file, entry.key("name"), title, "a name of its own")
        names[title] = number
        link = _link(entry, title, classes, busy)
        if classes.setdefault(link.name, link) != link:
            raise ConfigError.broken(
                entry.file,
                f"{entry.where}: class {link.name!r} had other numbers before, "
                "expected another class",
            )
        bundles.append((title, link, entry.take("lanes", "count", 1)))
        ends.append((_end(entry, "src"), _end(entry, "dst")))
        if ends[-1][0] == ends[-1][1]:
            raise entry.refuse("dst", "another end than src")
    node = _nodes(top, ends)
    ranks = len(node)
    devices = list(dict.fromkeys(e for pair in ends for e in pair if isinstance(e, str)))
    vertex: dict[int | str, int] = {rank: rank for rank in range(ranks)}
    vertex.update({device: ranks + i for i, device in enumerate(devices)})
    tails, heads = ([vertex[pair[side]] for pair in ends] for side in (0, 1))
    links = Links.assemble(
        *(
            Bundle([title], link, True, [a], [b], lanes)
            for (title, link, lanes), a, b in zip(bundles, tails, heads, strict=True)
        )
    )
    routes = _routes(top, ranks, names, list(zip(tails, heads, strict=True)), devices)
    try:
        cluster = listed(name, node, links, devices, routes, gamma=gamma, launch=launch)
    except InputError as error:
        raise ConfigError.broken(top.file, str(error)) from None
    return partial(_named, cluster)


def _named(cluster: Cluster, name: str, gamma: float, launch: float) -> Cluster:
    return replace(cluster, name=name, gamma=gamma, launch=launch)


def _tables(top: Table, key: str) -> list[Table]:
    value = top.data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise top.refuse(key, f"tables, each with the head [[{key}]]")
    return [Table(top.file, part, f"{key}[{i}]") for i, part in enumerate(value)]


def _link(
    entry: Table, title: str, classes: Mapping[str, LinkClass], busy: EveryBusy
) -> LinkClass:
    entry.only(("name", *_KEYS, *_COST))
    kind = entry.take("class", "text", None)
    if "link" in entry:
        for key in _COST:
            if key in entry:
                raise entry.refuse(key, "no such key beside `link`, which has the numbers")
        link = busy.take(entry, "link", title)
        return link if kind is None else replace(link, name=kind)
    numbers = busy.told({key: entry.data[key] for key in _COST if key in entry})
    link = read_link(Table(entry.file, numbers, entry.where), kind or title).link
    if kind is not None:
        return link
    # gpu[0].up and gpu[1].up are of one class, gpu.up, if their numbers are the same.
    common = replace(link, name=_INDEX.sub("", title) or title)
    return common if classes.get(common.name, common) == common else link


def _end(entry: Table, key: str) -> int | str:
    """Return a rank, or the name of a device."""
    expected = f"the number of a rank, from 0 to {_MOST - 1}, or the name of a device"
    if key not in entry:
        raise ConfigError.missing_key(entry.file, entry.key(key), expected)
    value = entry.data[key]
    if isinstance(value, str) and value.strip():
        gpu = _GPU.fullmatch(value)
        if gpu is None:
            return value
        value = int(gpu[1])
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST:
        raise entry.refuse(key, expected)
    return value


def _nodes(top: Table, ends: list[tuple[int | str, int | str]]) -> list[int]:
    """Return the node of every rank: all that links join, on one node unless it is said."""
    joined = {end for pair in ends for end in pair if isinstance(end, int)}
    ranks = max(joined, default=-1) + 1
    missing = sorted(set(range(ranks)) - joined)
    if not joined or missing:
        what = f"none joins rank {missing[0]}" if missing else "none has a rank at its end"
        raise ConfigError.broken(top.file, f"links: {what}, expected ranks numbered from 0 on")
    if "nodes" not in top:
        return [0] * ranks
    expected = f"lists of ranks, each of the {ranks} once, such as [[0, 1], [2, 3]]"
    value = top.data["nodes"]
    if not isinstance(value, list) or not all(
        isinstance(part, list) and part for part in value
    ):
        raise top.refuse("nodes", expected)
    flat = [rank for part in value for rank in part]
    if any(isinstance(rank, bool) or not isinstance(rank, int) for rank in flat) or sorted(
        flat
    ) != list(range(ranks)):
        raise top.refuse("nodes", expected)
    where = {rank: i for i, part in enumerate(value) for rank in part}
    return [where[rank] for rank in range(ranks)]


def _routes(
    top: Table,
    ranks: int,
    names: Mapping[str, int],
    ends: list[tuple[int, int]],
    devices: list[str],
) -> dict[tuple[int, int], list[int]]:
    routes: dict[tuple[int, int], list[int]] = {}

    def called(vertex: int) -> str:
        return f"rank {vertex}" if vertex < ranks else devices[vertex - ranks]

    for entry in _tables(top, "routes"):
        entry.only(("src", "dst", "links"))
        src, dst = (_rank(entry, key, ranks) for key in ("src", "dst"))
        if src == dst or (src, dst) in routes:
            raise entry.refuse("dst", f"a pair of its own, other than rank {src} to {dst}")
        here, route = src, []
        for title in _titles(entry):
            if title not in names:
                meant = nearest(title, names)
                hint = f"; did you mean {meant!r}?" if meant else ""
                raise ConfigError(
                    entry.file, entry.key("links"), title, f"the name of a link{hint}"
                )
            tail, head = ends[names[title]]
            if tail != here:
                raise ConfigError(
                    entry.file,
                    entry.key("links"),
                    title,
                    f"a link that begins at {called(here)}",
                )
            if names[title] in route:
                raise ConfigError(
                    entry.file, entry.key("links"), title, "a link that was not crossed before"
                )
            route.append(names[title])
            here = head
        if here != dst:
            raise entry.refuse(
                "links", f"a route that ends at rank {dst}, not at {called(here)}"
            )
        routes[src, dst] = route
    return routes


def _rank(entry: Table, key: str, ranks: int) -> int:
    value = _end(entry, key)
    if isinstance(value, str) or value >= ranks:
        raise entry.refuse(key, f"a rank from 0 to {ranks - 1}")
    return value


def _titles(entry: Table) -> list[str]:
    value: Any = entry.data.get("links")
    expected = "a list of names of links"
    if "links" not in entry:
        raise ConfigError.missing_key(entry.file, entry.key("links"), expected)
    if not isinstance(value, list) or not value or not all(isinstance(t, str) for t in value):
        raise entry.refuse("links", expected)
    return value
