"""Our own CSV of measurements, for people; columns as in `core.measurements_format`.

Sizes are whole bytes, times stand in ``seconds`` or ``time_us``: the unit is in the name.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from collsim.calibrate.importer import Found, Importer, ReadOptions
from collsim.calibrate.importers._csv import Line, cells_of, judged, lines_of, number, whole
from collsim.calibrate.importers._patterns import as_pattern, not_of_collective
from collsim.core.measurements import LeftOut, Measurement
from collsim.core.measurements_format import COLUMNS, ROW_COLUMNS, row_of, source_of
from collsim.errors import InputError, nearest

__all__ = ["IMPORTER", "marks"]

_REQUIRED = {"collective", "ranks", "size"}
_TIMES = {"seconds": 0, "time_us": -6}
# What `calibrate measure --csv` has besides: it follows from others, or is the writer's own.
_OTHERS = {
    "pattern", "pairs", "runs", "chunks", "algbw", "busbw", "low_us", "high_us",
    "repetitions", "relative_error",
}  # fmt: skip
_TRUTH = {"true": True, "false": False, "1": True, "0": False}


def marks(line: str) -> bool:
    """Return whether a line is the head of such a table.

    A table with a column `model` holds predictions, not measurements.

    Examples
    --------
    >>> marks("collective,ranks,size,seconds"), marks("collective,ranks,size,model,time_us")
    (True, False)
    """
    return "collective" in line and _columns(cells_of(line)) is not None


def _columns(cells: list[str]) -> list[str] | None:
    names = [cell.lower() for cell in cells]
    found = set(names)
    if len(found) < len(names) or not found >= _REQUIRED or "model" in found:
        return None
    return names if len(found & set(_TIMES)) == 1 else None


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    numeric = tuple(n for n, (_, kind) in ROW_COLUMNS.items() if kind in (int, float))
    told: set[str] = set()
    for line in lines_of(file, lines, _columns, (*numeric, "time_us")):
        if isinstance(line, LeftOut):
            yield line
            continue
        for name in line.cells.keys() - told:
            told.add(name)
            if name not in COLUMNS and name not in _TIMES and name not in _OTHERS:
                like = nearest(name, COLUMNS)
                hint = f"; did you mean {like}?" if like else ""
                yield f"{file}: column {name[:40]!r} is not read{hint}"
        reason = not_of_collective(line.cells.get("pattern"))
        if reason is not None:
            yield LeftOut(file, line.number, reason)
            continue
        yield judged(file, line, partial(_row, file, line, options))


def _row(file: str, line: Line, options: ReadOptions) -> Measurement:
    values = {
        name: _value(name, line.cells[name]) for name in ROW_COLUMNS if line.cells.get(name)
    }
    for name, exponent in _TIMES.items():
        if line.cells.get(name):
            values["seconds"] = number(name, line.cells[name], exponent)
    row = row_of(values, replace(source_of(line.cells), file=file, line=line.number))
    return options.placed(as_pattern(row, line.cells.get("pattern")))


def _value(name: str, text: str) -> object:
    kind = ROW_COLUMNS[name][1]
    if kind is int:
        return whole(name, text)
    if kind is float:
        return number(name, text)
    if kind is bool:
        if text.lower() not in _TRUTH:
            raise InputError(f"{name} {text[:24]!r}, expected true or false")
        return _TRUTH[text.lower()]
    return text


IMPORTER = Importer(
    marks,
    _stream,
    "CSV with columns collective, ranks, size, seconds",
    "lines of collective, ranks, size, seconds",
)
