"""The file in which live measurements are collected: ``collsim/measurements/1``, JSON lines.

A line with ``schema`` says what holds for the rows after it: library, clock, process model,
device, backend. Every other line is a row: what was measured and its ``seconds``, and under
``detail`` how: repetitions, spread, which messages. What is no collective, such as several
messages at once, has ``left_out`` with the reason, so that readers of collectives pass it by.

Rows are appended one by one, each with one write, so that whatever ends the run leaves every
finished row whole. A last line that was cut is no error.
"""

import contextlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from collsim.core.measured import DETAIL, ROW_COLUMNS, SCHEMA, SOURCE_COLUMNS
from collsim.errors import FileError, InputError

__all__ = ["SCHEMA", "RowFile", "check_new", "read_rows"]


class RowFile:
    """A file of measurements that is being written.

    Parameters
    ----------
    path : str or path
        Where it is, or will be.
    resume : bool
        Whether to go on with a file that exists. Otherwise one that exists is refused,
        because hours of measuring are not to be overwritten.

    Attributes
    ----------
    rows : list of dict
        The rows that were there before, as :func:`read_rows` gives them.

    Raises
    ------
    FileError
        If it can't be written, exists, or is no file of measurements.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with RowFile(f"{folder.name}/m.jsonl") as file:
    ...     file.append({"clock": "host", "size": 8, "seconds": 1.5e-6, "repetitions": 20})
    >>> print(pathlib.Path(f"{folder.name}/m.jsonl").read_text(), end="")
    {"schema": "collsim/measurements/1", "clock": "host"}
    {"size": 8, "seconds": 1.5e-06, "detail": {"repetitions": 20}}
    >>> read_rows(f"{folder.name}/m.jsonl")
    [{'clock': 'host', 'size': 8, 'seconds': 1.5e-06, 'repetitions': 20}]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], resume: bool = False) -> None:
        self.path = os.fspath(path)
        self._told: dict[str, Any] | None = None
        self.rows: list[dict[str, Any]] = []
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | (0 if resume else os.O_EXCL)
        try:
            self._descriptor = os.open(self.path, flags, 0o666)
        except FileExistsError:
            raise _exists(self.path) from None
        except (OSError, ValueError) as error:
            raise _file_error(self.path, error) from error
        try:
            if resume:
                self._take_up()
        except BaseException:
            self.close()
            raise

    def _take_up(self) -> None:
        """Read the rows that are there, and cut off a line that was not finished."""
        with open(os.dup(self._descriptor), "rb") as file:
            file.seek(0)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        if data[whole:] and not (whole or data.startswith(b"{")):
            raise FileError(self.path, f"is no file of measurements, expected {SCHEMA}")
        if whole < len(data):
            os.ftruncate(self._descriptor, whole)
        if whole:
            self.rows = list(_parsed(self.path, data[:whole].decode("utf-8", "replace")))

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row; once this returns, the operating system has all of it.

        Keys that say where it came from go to a header, unless the last one says the same;
        those that are no column of the format go under ``detail``. None is left out.
        """
        known = {key: value for key, value in row.items() if value is not None}
        source = {key: known.pop(key) for key in SOURCE_COLUMNS if key in known}
        reason = known.pop("left_out", None)
        made = {key: known.pop(key) for key in ROW_COLUMNS if key in known}
        if reason is not None:
            made = {"left_out": reason, **made}
        if known:
            made[DETAIL] = known
        text = _line(made)
        if source != self._told:
            text = _line({"schema": SCHEMA, **source}) + text
        self._write(text.encode("utf-8"))
        self._told = source

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._descriptor, data)
        except OSError as error:
            raise FileError(self.path, error) from error
        if written < len(data):
            raise FileError(self.path, "the disk is full")

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def __enter__(self) -> "RowFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_new(path: str | os.PathLike[str]) -> None:
    """Raise FileError if a file exists, before ranks are started for it."""
    if os.path.lexists(path):
        raise _exists(os.fspath(path))


def _exists(path: str) -> FileError:
    return FileError(path, "exists; --resume goes on with it, or name another file")


def read_rows(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the whole rows of a file of measurements, each with all that is said of it.

    Raises
    ------
    FileError
        If it can't be read, or is no such file.
    """
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        raise _file_error(path, error) from error
    return list(_parsed(path, text[: text.rfind("\n") + 1]))


def _line(values: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(values), allow_nan=False, ensure_ascii=False) + "\n"
    except ValueError as error:
        raise InputError(f"row: {error}, expected finite numbers") from error


def _parsed(path: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a text; FileError if it is no file of measurements."""
    source: dict[str, Any] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if isinstance(found, dict) and found.get("schema") == SCHEMA:
            source = {key: found[key] for key in SOURCE_COLUMNS if key in found}
        elif source is None:
            raise FileError(path, f"is no file of measurements, expected {SCHEMA}")
        elif isinstance(found, dict) and _timed(found):
            detail = found.pop(DETAIL, None)
            found.pop("left_out", None)
            yield {**source, **found, **(detail if isinstance(detail, dict) else {})}
        elif not (isinstance(found, dict) and "left_out" in found):
            raise FileError(path, f"line {number} is no row of {SCHEMA}")


def _timed(row: Mapping[str, Any]) -> bool:
    seconds = row.get("seconds")
    return isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0


def _file_error(path: str, error: OSError | ValueError) -> FileError:
    return FileError(path, error if isinstance(error, OSError) else str(error))
