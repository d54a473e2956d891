"""The file that rows are streamed to, and what of it counts when a sweep goes on."""

import contextlib
import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Final, Self

from collsim.errors import FileError
from collsim.files import lock
from collsim.sweeps.point import COLUMNS, Record

__all__ = ["RowsFile", "format_of", "header", "lines"]

_FORMATS: Final = ("csv", "jsonl")
_LONGEST: Final = 1 << 20  # bytes of a row, far more than any has


def format_of(path: str) -> str | None:
    """Return the format that a file's name asks for, or None.

    Examples
    --------
    >>> format_of("out.csv"), format_of("out.JSONL"), format_of("out.txt")
    ('csv', 'jsonl', None)
    """
    ending = os.path.splitext(path)[1].lower().removeprefix(".")
    return ending if ending in _FORMATS else None


def header(kind: str) -> str:
    """Return what a file of a format begins with."""
    return ",".join(COLUMNS) + "\n" if kind == "csv" else ""


def lines(kind: str, rows: Sequence[Record]) -> str:
    r"""Return rows as text, a line each.

    Examples
    --------
    >>> rows = [dict.fromkeys(COLUMNS) | {"sweep": "1f", "point": 0, "size": 8}]
    >>> lines("csv", rows)[:13], lines("jsonl", rows)[:27]
    ('1f,0,,,,,,,8,', '{"sweep": "1f", "point": 0,')
    """
    if kind == "jsonl":
        return "".join(
            json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n" for row in rows
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # A reason is a line in the file, too.
    writer.writerows([_cell(row.get(key)) for key in COLUMNS] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    return value.replace("\n", " ").replace("\r", " ") if isinstance(value, str) else value


def _opened(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)


def _cut(line: bytes, whole: bytes) -> bool:
    """Tell whether the beginning of a line is all that was written of it."""
    return len(line) < len(whole) and whole.startswith(line)


class RowsFile:
    """A file of rows, point by point.

    Parameters
    ----------
    path : str
        Its path; the ending tells the format.
    sweep : str
        Which grid the rows are of; every row says it.
    resume : bool
        Whether to go on with what is there. A last point may be there in part, however the
        sweep was ended, so it counts as not done and its rows are taken off the end.

    Raises
    ------
    FileError
        If it can't be written; if it is there and not to be gone on with; or if it holds
        anything but rows of this grid from its first point on.
    """

    def __init__(self, path: str, sweep: str, resume: bool = False) -> None:
        self.path = path
        self.kind = format_of(path) or "csv"
        self.done = 0
        try:
            # Not whole or not at all, as other files are: rows that took hours have to
            # outlive whatever ends the sweep.
            self._made = not os.path.lexists(path)
            self._file = open(_opened(path), "r+b")  # noqa: SIM115 - kept open
        except (OSError, ValueError) as error:
            raise FileError(
                path, error if isinstance(error, OSError) else str(error)
            ) from error
        try:
            self._begin(sweep, resume)
        except BaseException as error:
            self._close()
            if isinstance(error, OSError) and not isinstance(error, FileError):
                raise FileError(path, error) from error
            raise

    def _begin(self, sweep: str, resume: bool) -> None:
        if not lock(self._file.fileno()):
            self._made = False
            raise FileError(self.path, "another run is writing it")
        keep = 0
        if self._file.seek(0, os.SEEK_END):
            if not resume:
                raise FileError(
                    self.path,
                    "is there already; --resume goes on with it, or name another file",
                )
            self._file.seek(0)
            keep = self._read(sweep)
        self._file.truncate(keep)
        self._file.seek(keep)
        if not keep:
            self._append(header(self.kind))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        # What could not be written has been told.
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            if self._made and not os.path.getsize(self.path):
                os.unlink(self.path)

    def add(self, rows: Sequence[Record]) -> None:
        """Append the rows of the next point."""
        try:
            self._append(lines(self.kind, rows))
        except OSError as error:
            raise FileError(self.path, error) from error
        self.done += 1

    def _append(self, text: str) -> None:
        self._file.write(text.encode())
        self._file.flush()

    def _read(self, sweep: str) -> int:
        """Count the points that are done; return where the file is to go on, in bytes."""
        first = 0  # byte at which the last point begins
        last = -1
        at = 0
        number = 0
        if self.kind == "csv":
            line = self._file.readline(_LONGEST)
            number, at = 1, len(line)
            if _cut(line, header("csv").encode()):
                return 0
            if line != header("csv").encode():
                raise self._refused(1, "are no columns of a sweep")
        for line in iter(lambda: self._file.readline(_LONGEST), b""):
            number += 1
            if not line.endswith(b"\n"):
                if len(line) == _LONGEST or (last < 0 and not self._cut_row(line, sweep)):
                    raise self._refused(number, "is no row of a sweep")
                break
            point = self._point(line, number, sweep)
            if point not in (last, last + 1):
                raise self._refused(
                    number, f"is of point {point}, expected {max(last, 0)} or {last + 1}"
                )
            if point > last:
                first, last = at, point
            at += len(line)
        self.done = max(last, 0)
        return first if last >= 0 else at

    def _cut_row(self, line: bytes, sweep: str) -> bool:
        """Tell whether a line is the beginning of the first row."""
        begin = f"{sweep},0," if self.kind == "csv" else f'{{"sweep": "{sweep}", "point": 0, '
        return _cut(line[: len(begin)], begin.encode() + b"\n")

    def _point(self, line: bytes, number: int, sweep: str) -> int:
        """Return which point a row is of."""
        try:
            of, point = next(self._ends(line.decode()))
        except (ValueError, StopIteration, csv.Error, TypeError, KeyError):
            raise self._refused(number, "is no row of a sweep") from None
        if of != sweep:
            raise self._refused(
                number,
                f"is of sweep {of}, but the grid is sweep {sweep}: it has changed; "
                "write to another file",
            )
        return point

    def _ends(self, line: str) -> Iterator[tuple[str, int]]:
        if self.kind == "jsonl":
            row = json.loads(line)
            if not isinstance(row, dict) or tuple(row) != COLUMNS:
                raise ValueError
            yield str(row["sweep"]), int(row["point"])
            return
        for cells in csv.reader([line]):
            if len(cells) != len(COLUMNS):
                raise ValueError
            yield cells[0], int(cells[1])

    def _refused(self, number: int, what: str) -> FileError:
        return FileError(self.path, f"line {number}: {what}")
