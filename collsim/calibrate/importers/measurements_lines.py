"""Our own JSON lines, ``collsim/measurements/1``; see `collsim.core.measurements_format`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from collsim.calibrate.importer import LONGEST_LINE, Found, Importer, ReadOptions, numbered
from collsim.calibrate.importers._patterns import as_pattern
from collsim.calibrate.truth import doubt
from collsim.core.measurements import LeftOut, Source
from collsim.core.measurements_format import DETAIL, ROW_COLUMNS, SCHEMA, row_of, source_of
from collsim.core.schema import expected_schema
from collsim.errors import FileError, InputError, UnknownNameError, nearest

__all__ = ["IMPORTER", "marks"]

_FAMILY = SCHEMA.rpartition("/")[0]


def marks(line: str) -> bool:
    """Return whether a line is a header of this format, of whatever version.

    Examples
    --------
    >>> marks('{"schema": "collsim/measurements/1", "clock": "host"}')
    True
    """
    return _FAMILY in line and line.lstrip("\ufeff ").startswith("{")


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    source: Source | None = None
    broken = 0
    for number, line in numbered(lines):
        text = line.strip("\ufeff\r\n \0")
        if not text:
            continue
        if number == broken or (len(line) >= LONGEST_LINE and not line.endswith("\n")):
            if number != broken:
                yield LeftOut(file, number, f"a line of more than {LONGEST_LINE} characters")
            broken = number
            continue
        values = _object(text)
        if values is None:
            cut = not line.endswith("\n")
            reason = "a row cut at the end of the file" if cut else "no JSON object"
            yield LeftOut(file, number, reason)
        elif "schema" in values:
            source, notes = _header(file, number, values)
            yield from notes
        elif "left_out" in values:
            yield LeftOut(file, number, str(values["left_out"]).replace("\n", " "))
        elif source is None:
            yield LeftOut(file, number, f"a row before a header of {SCHEMA}")
        else:
            yield from _row(file, number, values, source, options)


def _object(text: str) -> dict[str, object] | None:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _header(file: str, number: int, values: Mapping[str, object]) -> tuple[Source, list[str]]:
    schema = values["schema"]
    if schema != SCHEMA:
        raise FileError(
            file,
            f"line {number}: schema: got {str(schema)[:40]!r}, "
            f"expected {expected_schema(SCHEMA, schema)}",
        )
    try:
        source = source_of(values)
    except InputError as error:
        raise FileError(file, f"line {number}: {error}") from error
    columns = values.get("columns")
    return source, _strangers(file, columns if isinstance(columns, list) else [])


def _strangers(file: str, columns: Iterable[object]) -> list[str]:
    """Return a note per column that is not read."""
    notes = []
    for name in columns:
        if isinstance(name, str) and name not in ROW_COLUMNS and name != DETAIL:
            like = nearest(name, tuple(ROW_COLUMNS))
            hint = f"; did you mean {like}?" if like else ""
            notes.append(f"{file}: column {name[:40]!r} is not read{hint}")
    return notes


def _row(
    file: str,
    number: int,
    values: Mapping[str, object],
    source: Source,
    options: ReadOptions,
) -> Iterator[Found]:
    yield from _strangers(file, values)
    try:
        row = row_of(values, replace(source, file=file, line=number))
        detail = values.get(DETAIL)
        row = as_pattern(row, detail.get("pattern") if isinstance(detail, dict) else None)
        reason = doubt(row)
    except (InputError, UnknownNameError) as error:
        yield LeftOut(file, number, str(error))
        return
    if reason is not None:
        yield LeftOut(file, number, reason, bool(row.wrong))
        return
    yield options.placed(row)


IMPORTER = Importer(
    marks,
    _stream,
    f"JSON lines of {SCHEMA}",
    "lines of JSON with collective, ranks, size, seconds",
    opens=(_FAMILY,),
)
