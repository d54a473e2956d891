"""What ``collsim calibrate measure --json`` prints: one object with its rows."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from collsim.calibrate.importer import Found, Importer, ReadOptions
from collsim.calibrate.importers._json_pull import JsonError, Pull
from collsim.calibrate.importers._patterns import as_pattern, not_of_collective
from collsim.calibrate.truth import doubt
from collsim.core.measurements import LeftOut, Measurement
from collsim.core.measurements_format import row_of, source_of
from collsim.core.schema import expected_schema
from collsim.errors import FileError, InputError, UnknownNameError

__all__ = ["IMPORTER", "marks"]

_SCHEMA: Final = "collsim/calibrate-measure/1"
_FAMILY: Final = '"collsim/calibrate-measure/'
_LONGEST: Final = 1 << 16


def marks(line: str) -> bool:
    """Return whether a line is the schema of such an answer, of whatever version.

    Examples
    --------
    >>> marks('  "schema": "collsim/calibrate-measure/1",')
    True
    """
    return _FAMILY in line


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    pull = Pull(lines)
    try:
        for key in pull.members():
            if key == "schema":
                _check_schema(file, pull.line, pull.value(_LONGEST))
                continue
            if key != "rows":
                pull.skip()
                continue
            for line in pull.items():
                yield _row(file, line, pull.value(_LONGEST), options)
    except JsonError as error:
        yield LeftOut(file, pull.line, f"no whole JSON: {error}; what follows is not read")


def _check_schema(file: str, line: int, text: str | None) -> None:
    """Raise FileError for an answer of another version."""
    found = (text or "").strip().strip('"')
    if found != _SCHEMA:
        raise FileError(
            file,
            f"line {line}: schema: got {found[:40]!r}, "
            f"expected {expected_schema(_SCHEMA, found)}",
        )


def _row(file: str, line: int, text: str | None, options: ReadOptions) -> Found:
    try:
        values = json.loads(text or "")
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return LeftOut(file, line, "a row that is no JSON object of a usual size")
    pattern = values.get("pattern")
    reason = not_of_collective(pattern)
    if reason is not None:
        return LeftOut(file, line, reason)
    try:
        row = as_pattern(_measured(file, line, values), pattern)
    except (InputError, UnknownNameError) as error:
        return LeftOut(file, line, str(error))
    why = doubt(row)
    return options.placed(row) if why is None else LeftOut(file, line, why, bool(row.wrong))


def _measured(file: str, line: int, values: dict[str, object]) -> Measurement:
    time = values.get("time_us")
    if isinstance(time, bool) or not isinstance(time, int | float):
        raise InputError(f"time_us: got {str(time)[:24]!r}, expected a number")
    source = replace(source_of(values), file=file, line=line)
    return row_of({**values, "seconds": time * 1e-6}, source)


IMPORTER = Importer(
    marks,
    _stream,
    "JSON of `collsim calibrate measure`",
    "rows of collective, ranks, size, time_us",
    opens=(_FAMILY,),
)
