"""Tables of comma-separated values, a line at a time."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from collsim.calibrate.importer import LONGEST_LINE, numbered
from collsim.calibrate.truth import doubt
from collsim.core.measurements import LeftOut, Measurement
from collsim.errors import UnknownNameError
from collsim.units import MAX_SIZE

__all__ = ["Line", "cells_of", "judged", "lines_of", "number", "whole"]

_NUMBER = re.compile(r"\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,2})?")
_SHOWN = 24
_FEW = 3  # commas that make a row of any line


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: its number in the file, and its cells by their column."""

    number: int
    cells: dict[str, str]


def cells_of(line: str, delimiter: str | None = None) -> list[str]:
    """Return the cells of one line, stripped; without a delimiter it is told by the line.

    Examples
    --------
    >>> cells_of(' a, "b,c" ,d'), cells_of("a;b")
    (['a', 'b,c', 'd'], ['a', 'b'])
    """
    text = line.strip("\ufeff\r\n")
    if delimiter is None:
        delimiter = max(",;\t", key=text.count)
    try:
        cells = next(csv.reader([text], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def judged(file: str, line: Line, read: Callable[[], Measurement]) -> Measurement | LeftOut:
    """Return the row that `read` makes of a line, or why it can't be used."""
    wrong = False
    try:
        row = read()
        reason, wrong = doubt(row), bool(row.wrong)
    except (UnknownNameError, ValueError) as error:
        reason = str(error)
    return row if reason is None else LeftOut(file, line.number, reason, wrong)


def lines_of(
    file: str,
    lines: Iterable[str],
    columns: Callable[[list[str]], list[str] | None],
    last: tuple[str, ...],
) -> Iterator[Line | LeftOut]:
    """Yield the rows of the tables in a file.

    Parameters
    ----------
    file : str
        Its name.
    lines : iterable of str
        Its lines.
    columns : callable
        ``cells -> names or None``: the columns if the cells are the head of a table.
    last : tuple of str
        Columns whose value is a number that a cut may change unseen: where one of them
        is the last one, a last line without an end is left out.
    """
    names: list[str] = []
    delimiter: str | None = None
    broken = 0
    for number_, line in numbered(lines):
        text = line.strip("\ufeff\r\n \0")
        if not text or text.startswith("#"):
            continue
        if broken == number_ or (len(line) >= LONGEST_LINE and not line.endswith("\n")):
            if broken != number_:
                yield LeftOut(file, number_, f"a line of more than {LONGEST_LINE} characters")
            broken = number_
            continue
        head = columns(cells_of(text))
        if head is not None:
            names, delimiter = head, max(",;\t", key=text.count)
            continue
        if not names:
            if text.count(",") >= _FEW:
                yield LeftOut(file, number_, "a row before the head of its table")
            continue
        cells = cells_of(text, delimiter)
        if len(cells) != len(names):
            yield LeftOut(file, number_, f"{len(cells)} cells, expected {len(names)}")
        elif names[-1] in last and not line.endswith("\n"):
            yield LeftOut(file, number_, f"no line end, so its {names[-1]} may be cut")
        else:
            yield Line(number_, dict(zip(names, cells, strict=True)))


def whole(name: str, text: str) -> int:
    """Return a whole number from 0 up; ValueError says what else it is.

    A spreadsheet's ``1.05E+06`` is no byte count any more, so it is refused.

    Examples
    --------
    >>> whole("bytes", "1024")
    1024
    """
    plain = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_SIZE))
    if not plain or int(text) > MAX_SIZE:
        raise ValueError(f"{name} {_short(text)}, expected a whole number up to {MAX_SIZE}")
    return int(text)


def number(name: str, text: str, exponent: int = 0) -> float:
    """Return a number times 10 to the `exponent`, by one rounding of its decimal.

    Examples
    --------
    >>> number("latency", "0.00898", -3)
    8.98e-06
    """
    if _NUMBER.fullmatch(text) is None or not text.isascii():
        raise ValueError(f"{name} {_short(text)}, expected a number from 0 up")
    mantissa, _, own = text.lower().partition("e")
    return float(f"{mantissa}e{int(own or 0) + exponent}")


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
