"""Parts of a workload's file that name collectives: calls as given, and algorithms."""

from collections.abc import Iterable, Mapping
from typing import Final

from collsim.algorithms import algorithm_names
from collsim.config.document import Table
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.workload import GROUPS, OVERLAPS, PHASES, Given
from collsim.errors import UnknownNameError, nearest
from collsim.nccl.families import FAMILIES

__all__ = ["algorithms", "given_calls", "word"]

_KINDS: Final = (*GROUPS, "pipeline")


def word(table: Table, key: str, known: tuple[str, ...], default: str) -> str:
    """Return one of some words."""
    value = table.data.get(key, default)
    if value not in known:
        meant = nearest(value, known) if isinstance(value, str) else None
        guess = f"; did you mean {meant!r}?" if meant else ""
        raise table.refuse(key, f"one of {', '.join(known)}{guess}")
    return str(value)


def given_calls(top: Table) -> tuple[Given, ...]:
    """Return the collectives that a file gives as they are."""
    value = top.data.get("collective", [])
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise top.refuse("collective", "tables, each written [[collective]]")
    return tuple(
        _one(Table(top.file, one, f"collective[{number}]")) for number, one in enumerate(value)
    )


def _one(table: Table) -> Given:
    table.only(("name", "collective", "size", "group", "count", "phase", "overlap"))
    try:
        kind = collective(table.take("collective", "text")).name
    except UnknownNameError as error:
        raise table.refuse("collective", f"a collective: {error}") from None
    overlap = word(table, "overlap", OVERLAPS, "none")
    return Given(
        name=table.take("name", "text", kind),
        collective=kind,
        nbytes=float(table.take("size", "size")),
        group=word(table, "group", GROUPS, "data"),
        count=table.take("count", "count", 1),
        phase=word(table, "phase", PHASES, "backward"),
        overlap=overlap,
    )


def algorithms(table: Table) -> dict[str, str]:
    """Return algorithms by kind of group, or by kind and collective with a dot between."""
    table.only(_KINDS)
    found: dict[str, str] = {}
    for key, value in table.data.items():
        if isinstance(value, dict):
            inner = table.table(key)
            inner.only(COLLECTIVES)
            found |= {f"{key}.{kind}": _algorithm(inner, kind, (kind,)) for kind in value}
        else:
            found[key] = _algorithm(table, key, COLLECTIVES)
    return found


def _algorithm(table: Table, key: str, kinds: Iterable[str]) -> str:
    """Return the name of an algorithm that some of these collectives have."""
    name = str(table.take(key, "text"))
    known = dict.fromkeys(n for kind in kinds for n in algorithm_names(kind))
    if name.partition(":")[0] not in (*FAMILIES, *known):
        meant = nearest(name, (*FAMILIES, *known))
        guess = f"; did you mean {meant!r}?" if meant else ""
        raise table.refuse(key, f"auto, nccl, or one of {', '.join(known)}{guess}")
    return name
