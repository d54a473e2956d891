"""Choose rows: columns, and conditions such as ``ranks == 8``."""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from collsim.calibrate.in_place import only_there_notes
from collsim.core.collective import collective
from collsim.core.measurements import Measurement, Measurements
from collsim.errors import InputError, UnknownNameError
from collsim.units import format_size, parse_size

__all__ = ["Condition", "parse_condition", "select"]

_COLUMNS = ("out-of-place", "in-place", "both")
_FIELDS = {
    "collective": "collective",
    "ranks": "ranks",
    "nodes": "nodes",
    "size": "nbytes",
    "algorithm": "algorithm",
    "protocol": "protocol",
    "dtype": "dtype",
}
Rows = tuple[Measurement, ...]
_NUMBERS = ("ranks", "nodes", "size")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORM = re.compile(r"\s*([A-Za-z_]+)\s*(==|!=|<=|>=|<|>)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """A field, a comparison, a value.

    Parameters
    ----------
    field, compare : str
        A field of a row, as `--where` names it; one of ``== != < <= > >=``.
    value : int or str
        What the field is compared with.
    text : str
        The condition as it was written.
    """

    field: str
    compare: str
    value: int | str
    text: str

    def holds(self, row: Measurement) -> bool:
        """Return whether a row meets it; a field that is not known meets only ``!=``.

        Examples
        --------
        >>> row = Measurement("all_reduce", 8, 1024, 1e-5)
        >>> parse_condition("size <= 1KiB").holds(row), parse_condition("nodes > 1").holds(row)
        (True, False)
        """
        found = getattr(row, _FIELDS[self.field])
        if found is None:
            return self.compare == "!="
        return _COMPARE[self.compare](found, self.value)


def parse_condition(text: str) -> Condition:
    """Return the condition that ``FIELD OP VALUE`` spells.

    Raises
    ------
    InputError, UnknownNameError
        If the field, the comparison or the value is none.

    Examples
    --------
    >>> parse_condition("size >= 64MiB").value
    67108864
    """
    found = _FORM.fullmatch(text)
    if found is None or not found[3]:
        raise InputError(
            f"condition {text!r}: expected FIELD OP VALUE such as 'ranks == 8', "
            "OP one of == != < <= > >="
        )
    field, compare, value = found[1], found[2], found[3].strip("'\"")
    if field not in _FIELDS:
        raise UnknownNameError("field", field, tuple(_FIELDS))
    if field not in _NUMBERS:
        if compare not in ("==", "!="):
            raise InputError(f"condition {text!r}: {field} is text, expected == or !=")
        if field == "collective":
            value = collective(value).name
        return Condition(field, compare, value, text)
    if field == "size":
        return Condition(field, compare, parse_size(value), text)
    if re.fullmatch(r"\d{1,9}", value, re.ASCII) is None:
        raise InputError(f"condition {text!r}: expected a whole number of {field}")
    return Condition(field, compare, int(value), text)


def select(
    measurements: Measurements, columns: str = "out-of-place", where: Iterable[str] = ()
) -> Measurements:
    """Return the rows of some columns that meet every condition.

    Parameters
    ----------
    measurements : Measurements
        Rows of any kind.
    columns : str
        ``out-of-place``, ``in-place`` or ``both``.
    where : iterable of str
        Conditions ``FIELD OP VALUE``, fields as `--where` names them.

    Raises
    ------
    InputError
        If no row is left; says which condition left none.

    Examples
    --------
    >>> rows = Measurements(Measurement("all_reduce", p, 1024, 1e-5) for p in (2, 4, 8))
    >>> select(rows, where=["ranks >= 4"]).values("ranks")
    (4, 8)
    """
    if columns not in _COLUMNS:
        raise UnknownNameError("choice of columns", columns, _COLUMNS)
    if not measurements.rows:
        raise InputError("no rows, expected at least one measurement")
    rows: Rows = measurements.rows
    others: Rows = ()
    if columns != "both":
        rows, others = _parted(rows, columns == "in-place")
        if not rows:
            other = "out-of-place" if columns == "in-place" else "in-place"
            left = measurements.left_out
            why = f"; {len(left)} left out, first {left[0]}" if left else ""
            raise InputError(
                f"no {columns} row among {len(measurements)}, all are {other}{why}"
            )
    for text in where:
        condition = parse_condition(text)
        kept = tuple(row for row in rows if condition.holds(row))
        others = tuple(row for row in others if condition.holds(row))
        if not kept:
            more = f"; --columns {_column(others[0])} has {len(others)}" if others else ""
            present = _present(rows, condition.field)
            raise InputError(f"no row left by {text!r}: {present}{more}")
        rows = kept
    notes = (*measurements.notes, *only_there_notes(rows, others))
    return Measurements(rows, measurements.left_out, notes)


def _parted(rows: Rows, in_place: bool) -> tuple[Rows, Rows]:
    """Return the rows of one column, and those of the other."""
    return (
        tuple(row for row in rows if row.in_place == in_place),
        tuple(row for row in rows if row.in_place != in_place),
    )


def _column(row: Measurement) -> str:
    return "in-place" if row.in_place else "out-of-place"


def _present(rows: tuple[Measurement, ...], field: str) -> str:
    known = [value for value in Measurements(rows).values(_FIELDS[field]) if value is not None]
    if not known:
        return f"{field} is not known of any"
    shown = [
        format_size(v) if field == "size" and isinstance(v, int) else str(v) for v in known
    ]
    if len(shown) > 8:
        return f"{field} is from {shown[0]} to {shown[-1]}"
    return f"{field} is {', '.join(shown)}"
