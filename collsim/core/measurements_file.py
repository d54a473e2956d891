"""The file in which measurements are collected: a header, then a row a line, as JSON.

Rows are appended one by one, each with one write, so that whatever ends the run leaves
every finished row whole. A last line that was cut is no error.
"""

import contextlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from collsim.errors import FileError, InputError

__all__ = ["SCHEMA", "RowFile", "read_rows"]

SCHEMA: Final = "collsim/measurements/1"


class RowFile:
    """A file of measurements that is being written.

    Parameters
    ----------
    path : str or path
        Where it is, or will be.
    header : mapping
        What holds for all rows; ``schema`` is added.
    resume : bool
        Whether to go on with a file that exists. Otherwise one that exists is refused,
        because hours of measuring are not to be overwritten.

    Attributes
    ----------
    rows : list of dict
        The rows that were there before.

    Raises
    ------
    FileError
        If it can't be written, exists, or is no file of measurements.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with RowFile(f"{folder.name}/m.jsonl", {"ranks": 2}) as file:
    ...     file.append({"size": 8, "time_us": 1.5})
    >>> [row["size"] for row in RowFile(f"{folder.name}/m.jsonl", {}, resume=True).rows]
    [8]
    >>> folder.cleanup()
    """

    def __init__(
        self, path: str | os.PathLike[str], header: Mapping[str, Any], resume: bool = False
    ) -> None:
        self.path = os.fspath(path)
        self.rows: list[dict[str, Any]] = []
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | (0 if resume else os.O_EXCL)
        try:
            self._descriptor = os.open(self.path, flags, 0o666)
        except FileExistsError:
            raise FileError(
                self.path, "exists; --resume goes on with it, or name another file"
            ) from None
        except (OSError, ValueError) as error:
            raise _file_error(self.path, error) from error
        try:
            if resume:
                self._take_up()
            if os.fstat(self._descriptor).st_size == 0:
                self._write({"schema": SCHEMA, **header})
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
        """Write one row; once this returns, the operating system has all of it."""
        self._write(row)

    def _write(self, row: Mapping[str, Any]) -> None:
        try:
            line = json.dumps(dict(row), allow_nan=False, ensure_ascii=False) + "\n"
        except ValueError as error:
            raise InputError(f"row: {error}, expected finite numbers") from error
        data = line.encode("utf-8")
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


def read_rows(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the whole rows of a file of measurements.

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
    text = text[: text.rfind("\n") + 1]
    rows = list(_parsed(path, text))
    return json.loads(text.split("\n", 1)[0]), rows


def _parsed(path: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a text; FileError if it is no file of measurements."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if number == 1:
            if not isinstance(found, dict) or found.get("schema") != SCHEMA:
                raise FileError(path, f"is no file of measurements, expected {SCHEMA}")
        elif not isinstance(found, dict) or not _timed(found):
            raise FileError(path, f"line {number} is no row of {SCHEMA}")
        else:
            yield found


def _timed(row: Mapping[str, Any]) -> bool:
    time = row.get("time_us")
    return isinstance(time, int | float) and math.isfinite(time) and time >= 0


def _file_error(path: str, error: OSError | ValueError) -> FileError:
    return FileError(path, error if isinstance(error, OSError) else str(error))
