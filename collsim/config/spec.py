"""What a cluster file says, read strictly and not yet built."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from collsim.config.changes import EveryBusy, changed
from collsim.config.document import REQUIRED, Table, parse_table, read_table
from collsim.config.listed import LISTED, read_listed
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.errors import ConfigError, UnknownNameError, nearest
from collsim.registry import member, names
from collsim.topology import REQUIRED as NEEDED
from collsim.topology import Key, NetworkShape, NodeShape

__all__ = ["SCHEMA", "ClusterSpec", "Network", "link_keys", "parse_spec", "read_spec"]

SCHEMA = "collsim/cluster/1"

S = TypeVar("S", NodeShape, NetworkShape)

_TOP = ("schema", "name", "summary", "sharing", "node", "network", "cost")
_PROVENANCE = ("source", "kind")


@dataclass(frozen=True)
class Network:
    """The table ``[network]``: how nodes are joined, and how many unless overridden."""

    nodes: int
    values: Mapping[str, object]
    build: Callable[..., Cluster]
    sharing: str | None = None


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster file.

    Parameters
    ----------
    file, name, summary : str
        Its path; the cluster's name, and what it is in a line.
    values : dict
        Values of ``[node]`` for `build`.
    build : callable
        Builds one node; see :class:`collsim.topology.NodeShape`.
    elastic : bool
        Whether any number of ranks can be taken.
    network : Network, optional
        How nodes are joined.
    gamma, launch : float
        Seconds per byte reduced, and per collective, from ``[cost]``.
    local : LinkClass, optional
        What a message of a rank to itself crosses.
    sharing : str, optional
        ``"fifo"`` or ``"fair"``; None leaves it to the network, and without one is fifo.
    """

    file: str
    name: str
    summary: str
    values: Mapping[str, object]
    build: Callable[..., Cluster]
    elastic: bool
    network: Network | None
    gamma: float
    launch: float
    local: LinkClass | None = None
    sharing: str | None = None


def read_spec(
    file: str, changes: Mapping[str, object] | None = None, called: str | None = None
) -> ClusterSpec:
    """Read a cluster file, with some of it changed by dotted key.

    Errors call it by its path, or as it is `called`.

    Raises
    ------
    FileError
        If it can't be read.
    ConfigError
        If it is no TOML, of another schema, or a key is unknown, missing or of a wrong
        type.
    """
    top = read_table(file, SCHEMA)
    top = top if called is None else Table(called, top.data)
    return _spec(changed(top, changes), EveryBusy(changes))


def parse_spec(file: str, text: str) -> ClusterSpec:
    """Read the text of a cluster file; `file` is what errors call it."""
    return _spec(parse_table(file, text, SCHEMA), EveryBusy())


def _spec(top: Table, busy: EveryBusy) -> ClusterSpec:
    file = top.file
    top.only((*_TOP, *LISTED))
    name = top.take("name", "text")
    summary = top.take("summary", "text", "")
    sharing = top.take("sharing", "sharing", None)
    cost = top.table("cost")
    cost.only(("gamma", "launch", *_PROVENANCE))
    _provenance(cost)
    gamma, launch = cost.take("gamma", "time per byte", 0.0), cost.take("launch", "time", 0.0)
    if "links" in top:
        for key in ("node", "network"):
            if key in top:
                raise top.refuse(key, "no such table beside [[links]]")
        build = read_listed(top, name, gamma, launch, busy)
        return ClusterSpec(
            file, name, summary, {}, build, False, None, gamma, launch, sharing=sharing
        )
    for key in LISTED:
        if key in top:
            raise top.refuse(key, "no such key without [[links]]")
    if "node" not in top:
        raise ConfigError.missing_key(file, "node", "a table with shape, gpus and link")
    node = top.table("node")
    shape = _shape(node, NodeShape)
    node.only(("shape", *shape.keys, "local", *_PROVENANCE))
    values = _values(node, shape.keys, "link", busy)
    local = busy.take(node, "local", "local") if "local" in node else None
    if local is not None:
        _check_names(node, {"local": local}, values)
    network = None
    if "network" in top:
        if shape.elastic:
            raise ConfigError.broken(
                file,
                f"network: a node of shape {node.data['shape']!r} can't be joined to others",
            )
        network = _network(top.table("network"), {**values, "local": local}, busy)
    return ClusterSpec(
        file=file,
        name=name,
        summary=summary,
        values=values,
        build=shape.build,
        elastic=shape.elastic,
        network=network,
        gamma=gamma,
        launch=launch,
        local=local,
        sharing=sharing,
    )


def _network(table: Table, node_values: Mapping[str, object], busy: EveryBusy) -> Network:
    shape = _shape(table, NetworkShape)
    table.only(("shape", "nodes", "sharing", *shape.keys, *_PROVENANCE))
    values = _values(table, shape.keys, "nic", busy)
    _check_names(table, values, node_values)
    sharing = table.take("sharing", "sharing", None)
    return Network(table.take("nodes", "count", 1), values, shape.build, sharing)


def _check_names(table: Table, new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    """Refuse two links of one name: it tells them apart in a profile, a trace, in --set."""
    taken = [value for value in old.values() if isinstance(value, LinkClass)]
    for key, value in new.items():
        if isinstance(value, LinkClass) and any(
            value.name == other.name and value != other for other in taken
        ):
            raise ConfigError.broken(
                table.file,
                f"{table.key(key)}: a link of [node] is named {value.name!r} too, "
                "expected another name",
            )


def _values(
    table: Table, keys: Mapping[str, Key], link_name: str, busy: EveryBusy
) -> dict[str, Any]:
    _provenance(table)
    values: dict[str, Any] = {}
    for key, wanted in keys.items():
        if wanted.kind == "link" and (key in table or wanted.default is NEEDED):
            values[key] = busy.take(table, key, link_name if key == "link" else key)
            _check_names(table, {key: values[key]}, values)
        elif wanted.kind == "link":
            values[key] = wanted.default
        else:
            default = REQUIRED if wanted.default is NEEDED else wanted.default
            values[key] = _value(table, key, wanted.kind, default)
    return values


def _value(table: Table, key: str, kind: str, default: object) -> Any:
    """Return a value: as it is, or of a table that says where it alone is from."""
    if not isinstance(table.data.get(key), dict):
        return table.take(key, kind, default)
    inner = table.table(key)
    inner.only(("value", *_PROVENANCE))
    _provenance(inner)
    return inner.take("value", kind)


def _provenance(table: Table) -> None:
    """Check where the numbers of a table are from; the reader of the file needs it."""
    table.take("source", "text", None)
    table.take("kind", "kind", None)


def _shape(table: Table, place: type[S]) -> S:
    """Return the shape that a table names: one of the files of ``topology/``."""
    if "shape" not in table:
        expected = f"one of {', '.join(_shapes(place))}"
        raise ConfigError.missing_key(table.file, table.key("shape"), expected)
    name = table.take("shape", "text")
    try:
        shape = member("collsim.topology", name, "SHAPE", "shape")
    except UnknownNameError:
        shape = None
    if isinstance(shape, place):
        return shape
    known = _shapes(place)
    meant = nearest(name, known)
    hint = f"; did you mean {meant!r}?" if meant else ""
    raise table.refuse("shape", f"one of {', '.join(known)}{hint}")


def _shapes(place: type[S]) -> list[str]:
    """Return the names of all shapes for a table."""
    return [
        name
        for name in names("collsim.topology")
        if isinstance(member("collsim.topology", name, "SHAPE", "shape"), place)
    ]


def link_keys() -> frozenset[str]:
    """Return the keys of a cluster file that are links, whatever the shape, and `local`.

    Examples
    --------
    >>> sorted(link_keys() & {"link", "gpus", "socket", "local"})
    ['link', 'local', 'socket']
    """
    found = {"local"}
    for name in names("collsim.topology"):
        shape = member("collsim.topology", name, "SHAPE", "shape")
        if isinstance(shape, NodeShape | NetworkShape):
            found |= {key for key, wanted in shape.keys.items() if wanted.kind == "link"}
    return frozenset(found)
