"""Changes to what a cluster file says, by dotted key, before it is read."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from collsim.config.document import Table
from collsim.config.links import preset_link, take_link
from collsim.config.toml import parse_toml
from collsim.config.values import shown
from collsim.core.link import LinkClass
from collsim.errors import ConfigError, InputError, nearest

__all__ = ["EVERY_BUSY", "EveryBusy", "changed", "parse_changes"]

# What a link can be told in place of its preset; `node.alpha` is `node.link.alpha`.
_NUMBERS: Final = ("alpha", "bandwidth", "alpha_busy")
_TABLES: Final = ("node", "network", "cost")
_TOP: Final = ("sharing",)
_NEW: Final = "network.shape"

EVERY_BUSY: Final = "*.alpha_busy"
"""Key of the alpha_busy of every link of a file, wherever it is given."""


class EveryBusy:
    """Reads links with the alpha_busy that changes give to all; what they give one holds."""

    def __init__(self, changes: Mapping[str, object] | None = None) -> None:
        changes = changes or {}
        self._number = {"alpha_busy": changes[EVERY_BUSY]} if EVERY_BUSY in changes else {}
        # `node.alpha_busy` is of `node.link`.
        self._own = {
            key.removesuffix(".alpha_busy") + ".link" * (key.count(".") == 1)
            for key in changes
            if key.endswith(".alpha_busy")
        }

    def take(self, table: Table, key: str, default_name: str) -> LinkClass:
        """Return the link of a key of a table, as :func:`collsim.config.links.take_link`."""
        link = take_link(table, key, default_name)
        if not self._number or table.key(key) in self._own:
            return link
        told = self.told(_link(table.file, table.key(key), table.data[key]))
        return take_link(Table(table.file, {key: told}, table.where), key, default_name)

    def told(self, link: Mapping[str, object]) -> dict[str, object]:
        """Return the numbers of a link with the alpha_busy of all."""
        return {**link, **self._number}


def parse_changes(texts: Iterable[str]) -> dict[str, object]:
    """Return changes from texts such as ``"network.bandwidth=100GB/s"``.

    Values are read as TOML writes them; what is no TOML is text. Of several for one key
    the last one holds.

    Raises
    ------
    InputError
        For a text without ``=``, key or value.

    Examples
    --------
    >>> parse_changes(["node.gpus=4", "network.link=ndr400", "node.multicast=true"])
    {'node.gpus': 4, 'network.link': 'ndr400', 'node.multicast': True}
    """
    found: dict[str, object] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and key and value):
            raise InputError(
                f"set: got {text!r}, expected KEY=VALUE such as network.bandwidth=100GB/s"
            )
        found[key] = _value(value)
    return found


def _value(text: str) -> object:
    try:
        parsed = parse_toml("value", f"value = {text}")
    except ConfigError:
        return text
    return parsed["value"] if parsed.keys() == {"value"} else text


def changed(top: Table, changes: Mapping[str, object] | None) -> Table:
    """Return a cluster file as if it said something else; it is read as strictly as ever.

    ``node.alpha``, ``node.bandwidth`` and ``node.alpha_busy`` change numbers of the
    table's link, and so for ``network``; ``network.trunk_link.bandwidth`` those of a link
    of another key. With ``node.gpus`` the NICs of a node change in proportion, unless they are
    given, too. ``network.shape`` makes the table ``[network]`` where there is none.
    ``sharing`` stands alone. `EVERY_BUSY` is of no one key; see :class:`EveryBusy`.

    Parameters
    ----------
    top : Table
        The whole file.
    changes : dict of str, optional
        Values by dotted key, as TOML has them.

    Raises
    ------
    ConfigError
        If a key leads nowhere; values are judged when the table is read.

    Examples
    --------
    >>> top = Table("my.toml", {"node": {"link": "nvlink4", "gpus": 8}})
    >>> changed(top, {"node.bandwidth": "900GB/s"}).data["node"]["link"]["bandwidth"]
    '900GB/s'
    """
    if not changes:
        return top
    data = {key: dict(v) if isinstance(v, dict) else v for key, v in top.data.items()}
    before = _count(data, "node", "gpus")
    if _NEW in changes:
        data.setdefault("network", {})
    # The numbers of a link after the link that they are changed of.
    for key in sorted(changes.keys() - {EVERY_BUSY}, key=_is_number):
        _change(top.file, data, key, changes[key])
    gpus, nics = _count(data, "node", "gpus"), _count(data, "network", "nics")
    network = data.get("network")
    if "network.nics" in changes or not isinstance(network, dict):
        return Table(top.file, data)
    if before and gpus and nics and before != gpus:
        network["nics"] = -(-nics * gpus // before)
    return Table(top.file, data)


def _is_number(key: str) -> bool:
    return key.rpartition(".")[2] in _NUMBERS


def _count(data: Mapping[str, Any], table: str, key: str) -> int:
    """Return a whole number of a table, 0 where there is none."""
    inner = data.get(table)
    value = inner.get(key) if isinstance(inner, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _change(file: str, data: dict[str, Any], key: str, value: object) -> None:
    table, _, rest = key.partition(".")
    if key in _TOP:
        data[key] = value
        return
    if not rest and table in _NUMBERS:
        there = [f"{other}.{table}" for other in ("node", "network") if other in data]
        meant = " or ".join(there) or "no number of links that are given one by one"
        raise ConfigError.broken(file, f"{table}: is a number of links, expected {meant}")
    if table not in _TABLES:
        raise ConfigError.unknown_key(file, table, (*_TABLES, *_TOP))
    if not rest:
        raise ConfigError.broken(file, f"{key}: is a table, expected {key}.KEY")
    if table not in data and table != "cost":
        hint = f"; set {_NEW} and network.link, too" * (table == "network")
        raise ConfigError.broken(file, f"{key}: there is no [{table}] in it{hint}")
    inner = data.setdefault(table, {})
    if not isinstance(inner, dict):
        raise ConfigError(file, table, shown(inner), "a table")
    first, dot, number = rest.partition(".")
    if first in _NUMBERS and first not in inner and not dot and table != "cost":
        first, dot, number = "link", ".", first
    if not dot and first not in inner and nearest(first, _NUMBERS):
        raise ConfigError.unknown_key(file, key, (*inner, *_NUMBERS))
    if not dot:
        inner[first] = value
        return
    if first not in inner:
        raise ConfigError.unknown_key(file, f"{table}.{first}", inner)
    inner[first] = _link(file, f"{table}.{first}", inner[first])
    inner[first][number] = value


def _link(file: str, key: str, value: object) -> dict[str, Any]:
    """Return a link as a table, ready to be changed."""
    if isinstance(value, dict):
        return dict(value)
    if not isinstance(value, str):
        raise ConfigError(file, key, shown(value), "a link")
    spec = preset_link(value)
    numbers = {
        name: {"value": _text(name, n.value), "source": n.source, "kind": n.kind}
        for name, n in spec.numbers.items()
    }
    return {"name": spec.name, **numbers}


def _text(name: str, value: float) -> str:
    return f"{value!r}B/s" if name == "bandwidth" else f"{value!r}s"
