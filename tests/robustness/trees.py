"""Damage to what a file says: nodes of TOML, JSON and XML are lost, doubled, moved, changed.

What comes out is well formed again, so that it gets past the parser.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
import random
import tomllib
import xml.etree.ElementTree as ET
from typing import Any

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        2**31,
        2**63,
        2**64,
        10**400,
        0.5,
        -0.5,
        1e-320,
        1e308,
    ),
    *(
        float("nan"),
        float("inf"),
        "",
        "x",
        " ",
        "\0",
        "\n",
        "\u2028",
        "1us",
        "1GB/s",
        "1e999us",
    ),
    *(
        "-1us",
        "0",
        "8",
        "1MiB",
        "ring",
        "auto",
        "all_reduce",
        "rails",
        "switch",
        "ideal",
        "é" * 99,
    ),
    *([], {}, [[]], [0], [1, 2], ["x"], {"": 0}, {"x": {}}, [0] * 300, "x" * 5000),
    *(
        dt.date(2024, 1, 1),
        dt.time(7, 32),
        "../x.toml",
        "/dev/null",
        "data",
        "full",
    ),
)
ATTRIBUTES = (
    *(
        "",
        "0",
        "-1",
        "1",
        "99999999999",
        "1e400",
        "nan",
        "x",
        "0x10",
        "0-1",
        "SYS",
        "NVL",
        "PIX",
    ),
    *("0000:00:00.0", "ffff:ff:ff.f", "\u0661", " 1", "1 ", "r", "rrc", "nop", "s", "i", "o"),
    *("1.5", "256", "65536", "2147483648", "all_reduce", "Simple", "true", "9" * 400, '<&">'),
)


# Python writes whole numbers up to here in decimals.
_WRITTEN = 10**4000


def nodes(rng: random.Random, data: bytes) -> bytes:
    """Change one to three nodes of a document; what is no document stays as it is."""
    times = rng.choice((1, 1, 1, 2, 3))
    head = data.lstrip()[:1]
    if head == b"<":
        return _xml(rng, data, times)
    if head in (b"{", b"["):
        return _json(rng, data, times)
    try:
        tree = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return data
    for _ in range(times):
        _change(rng, tree)
    return to_toml(tree).encode("utf-8", "surrogatepass")


def _json(rng: random.Random, data: bytes, times: int) -> bytes:
    """Change a JSON document, or single lines where each is one."""
    try:
        lines = data.decode().splitlines() if data.count(b"\n{") else [data.decode()]
        rows = [json.loads(line) for line in lines if line.strip()]
    except (ValueError, RecursionError):
        return data
    for _ in range(times if rows else 0):
        row = rng.choice(rows)
        if isinstance(row, dict | list):
            _change(rng, row)
    return "\n".join(json.dumps(row, default=str) for row in rows).encode()


def _inner(tree: Any) -> list[Any]:
    """Return all tables and lists, the outermost first."""
    found = [tree]
    for node in found:
        children = node.values() if isinstance(node, dict) else node
        found += [child for child in children if isinstance(child, dict | list)]
    return found


def _change(rng: random.Random, tree: dict[str, Any] | list[Any]) -> None:
    """Change one entry of one table or list."""
    inner = _inner(tree)
    node = rng.choice(inner)
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key, kind = rng.choice(keys), rng.randrange(6)
    if kind == 0:
        del node[key]
    elif kind == 1:
        # A value of elsewhere, in this place.
        other = rng.choice(inner)
        values = list(other.values()) if isinstance(other, dict) else other
        node[key] = copy.deepcopy(rng.choice(values)) if values else other
    elif kind == 2 and isinstance(node, dict):
        node[rng.choice(("x", "", f"{key}s", "name", "schema", "nodes"))] = node.pop(key)
    elif kind == 3:
        node[key] = [node[key]]
    elif kind == 4 and isinstance(node, list):
        node.insert(key, copy.deepcopy(node[key]))
    else:
        node[key] = _other(rng, node[key])


def _other(rng: random.Random, value: Any) -> Any:
    """Return an odd value, or one near to `value`."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if rng.random() < 0.5 and plain and abs(value) < _WRITTEN:
        return rng.choice((value + 1, -value, value * 2, value * 10**6, value // 2, str(value)))
    if rng.random() < 0.5 and isinstance(value, str):
        return rng.choice((value + "x", value[:-1], value.upper(), f" {value}", value * 2))
    return copy.deepcopy(rng.choice(ODD))


def _xml(rng: random.Random, data: bytes, times: int) -> bytes:
    try:
        root = ET.fromstring(data)
    except ET.ParseError:
        return data
    for _ in range(times):
        parents = [node for node in root.iter() if len(node)] or [root]
        parent, node = rng.choice(parents), rng.choice(list(root.iter()))
        kind = rng.randrange(8)
        if kind == 0 and len(parent):
            parent.remove(rng.choice(list(parent)))
        elif kind == 1 and len(parent):
            at = rng.randrange(len(parent))
            parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(parent[at]))
        elif kind == 2:
            node.tag = rng.choice(list(root.iter())).tag
        elif kind == 3 and node.attrib:
            del node.attrib[rng.choice(list(node.attrib))]
        elif kind == 4 and len(parent) > 1:
            children = list(parent)
            rng.shuffle(children)
            parent[:] = children
        elif node.attrib:
            name = rng.choice(list(node.attrib))
            others = [o.attrib[name] for o in root.iter() if name in o.attrib]
            near = rng.choice(others) if rng.random() < 0.4 else rng.choice(ATTRIBUTES)
            node.set(name, near)
    return ET.tostring(root)


def to_toml(table: dict[str, Any]) -> str:
    """Return a table as TOML, each value on its own line; None and what TOML lacks as text."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, int) and abs(value) > _WRITTEN:
        return hex(value)
    return '"none"' if value is None else str(value)
