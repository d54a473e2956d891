"""Rows of a file of live measurements, read: all that is said of each, and checked."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from collsim.core.measurements import Source
from collsim.core.measurements_format import DETAIL, SCHEMA, SOURCE_COLUMNS, MeasuredRow, row_of
from collsim.core.schema import expected_schema
from collsim.errors import CollsimError, FileError, InputError
from collsim.files import read_bytes

__all__ = ["FOREIGN", "MOST_BYTES", "file_error", "parsed", "read_rows"]

FOREIGN: Final = f"is no file of measurements, expected {SCHEMA}"
"""What is said of another file."""
MOST_BYTES: Final = 32 << 20
"""Of a file that is held as a whole: 100,000 rows, each of which takes seconds to measure."""


def read_rows(path: str | os.PathLike[str]) -> list[MeasuredRow]:
    """Return the whole rows of a file of measurements, each with all that is said of it.

    Raises
    ------
    FileError
        If it can't be read, or is no such file.
    """
    path = os.fspath(path)
    text = read_bytes(path, MOST_BYTES).decode("utf-8", "replace")
    return list(parsed(path, text[: text.rfind("\n") + 1]))


def parsed(path: str, text: str) -> Iterator[MeasuredRow]:
    """Yield the rows of a text; FileError if it is no file of measurements."""
    source: dict[str, object] | None = None
    # Not splitlines, which cuts at characters that JSON has in its strings.
    for number, written in enumerate(text.split("\n")[:-1], 1):
        # A machine that lost its power may leave a block of zeros where rows were to be.
        line = written.strip("\0")
        if not line and source is not None:
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and found.get("schema") == SCHEMA:
            source = {key: found[key] for key in SOURCE_COLUMNS if key in found}
        elif isinstance(found, dict) and _of_another_version(found.get("schema")):
            raise FileError(
                path,
                f"line {number}: schema: got {found['schema'][:40]!r}, "
                f"expected {expected_schema(SCHEMA, found['schema'])}",
            )
        elif source is None:
            raise FileError(path, FOREIGN)
        elif not isinstance(found, dict) or not found.keys() & {"seconds", "left_out"}:
            raise FileError(path, f"line {number} is no row of {SCHEMA}")
        elif "seconds" in found:
            yield _checked(path, number, source, found)


def _of_another_version(schema: object) -> bool:
    family, _, _ = SCHEMA.rpartition("/")
    return isinstance(schema, str) and schema.startswith(f"{family}/")


def _checked(
    path: str, line: int, source: Mapping[str, object], found: dict[str, object]
) -> MeasuredRow:
    """Return a row, all of whose columns can be true; FileError names its line."""
    detail = found.pop(DETAIL, None)
    # What is no collective has none, and else what every row has.
    assumed = {"collective": "sendrecv"} if found.pop("left_out", None) else {}
    row = {**source, **found, **(detail if isinstance(detail, dict) else {})}
    try:
        row_of({**assumed, **row}, Source())
        if row.get("runs") == "schedule" and row.get("algorithm") is None:
            raise InputError("algorithm: is missing, expected the schedule's")
        for name, kind in _DETAILS.items():
            value = row.get(name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
                raise InputError(f"{name}: got {value!r:.40}")
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                raise InputError(f"{name}: got {value!r:.40}, expected a number from 0 up")
        _check_pairs(row.get("pairs"), row.get("world"))
    except CollsimError as error:
        raise FileError(path, f"line {line}: {error}") from error
    return cast(MeasuredRow, row)


def _check_pairs(pairs: list[Any] | None, world: int | None) -> None:
    """Raise InputError unless all pairs are two ranks of the run."""
    for pair in pairs or ():
        both = isinstance(pair, list) and len(pair) == 2
        if not both or not all(type(rank) is int and rank >= 0 for rank in pair):
            raise InputError(f"pairs: got {pair!r:.40}, expected two ranks")
        if world is not None and max(pair) >= world:
            raise InputError(f"pairs: got {pair!r:.40}, expected ranks below {world}")


_DETAILS: Final[Mapping[str, Any]] = {
    "low": (int, float), "high": (int, float), "relative_error": (int, float),
    "at_once": int, "world": int, "pairs": list, "pattern": str, "repetitions": int,
}  # fmt: skip
"""What readers of the file take of a row's detail, where it is there."""


def file_error(path: str, error: OSError | ValueError) -> FileError:
    """Return the error of a file that can't be opened; its name may be the reason."""
    return FileError(path, error if isinstance(error, OSError) else str(error))
