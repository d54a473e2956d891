"""Rows of results as plain mappings, ready to be written."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from collsim.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["check_finite", "keys_of", "record", "records"]


def keys_of(kind: "type[DataclassInstance]") -> tuple[str, ...]:
    """Return the keys of a kind of row: the names of its fields.

    Examples
    --------
    >>> from collsim.choose.predict import Row
    >>> keys_of(Row)[:3]
    ('size', 'count', 'dtype')
    """
    return tuple(field.name for field in fields(kind))


def record(row: "DataclassInstance") -> dict[str, object]:
    """Return a row as a mapping; rows within it too.

    Raises
    ------
    InputError
        If a number is infinite or none, which comes of inputs beyond all measure.
    """
    found = {field.name: _plain(getattr(row, field.name)) for field in fields(row)}
    check_finite(found)
    return found


def records(rows: "Iterable[DataclassInstance]") -> list[dict[str, object]]:
    """Return rows as mappings."""
    return [record(row) for row in rows]


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return record(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def check_finite(record: Mapping[str, object]) -> None:
    """Raise InputError, naming the key, if a number in a mapping is infinite or none."""
    for key, value in record.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(
                f"{key} comes out as {value}, expected inputs of sensible magnitude"
            )
