"""The file that rows are streamed to, and what of it counts when a sweep goes on."""

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Final, Self

from collsim.errors import FileError
from collsim.sweeps.point import COLUMNS, Record

__all__ = ["RowsFile", "format_of", "header", "lines"]

_FORMATS: Final = ("csv", "jsonl")


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
        keep = 0
        if os.path.lexists(path) and os.path.getsize(path):
            if not resume:
                raise FileError(
                    path, "is there already; --resume goes on with it, or name another file"
                )
            keep = self._read(sweep)
        try:
            # Not whole or not at all, as other files are: rows that took hours have to
            # outlive whatever ends the sweep.
            self._file = open(path, "r+b" if keep else "wb")  # noqa: SIM115 - kept open
            self._file.truncate(keep)
            self._file.seek(keep)
            if not keep:
                self._append(header(self.kind))
        except OSError as error:
            raise FileError(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

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
        try:
            with open(self.path, "rb") as file:
                if self.kind == "csv":
                    line = file.readline()
                    at = len(line)
                    if not line.endswith(b"\n") and header("csv").encode().startswith(line):
                        return 0  # ended within the first line
                    if line != header("csv").encode():
                        raise self._refused(1, "are no columns of a sweep")
                for number, line in enumerate(file, start=1 + (self.kind == "csv")):
                    if not line.endswith(b"\n"):
                        break
                    point = self._point(line, number, sweep)
                    if point not in (last, last + 1):
                        raise self._refused(
                            number,
                            f"is of point {point}, expected {max(last, 0)} or {last + 1}",
                        )
                    if point > last:
                        first, last = at, point
                    at += len(line)
        except FileError:
            raise
        except OSError as error:
            raise FileError(self.path, error) from error
        self.done = max(last, 0)
        return first if last >= 0 else at

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
