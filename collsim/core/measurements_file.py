"""The file in which live measurements are collected: ``collsim/measurements/1``, JSON lines.

A line with ``schema`` says what holds for the rows after it: library, clock, process model,
device, backend. Every other line is a row: what was measured and its ``seconds``, and under
``detail`` how: repetitions, spread, which messages. What is no collective, such as several
messages at once, has ``left_out`` with the reason, so that readers of collectives pass it by.

Rows are appended one by one, each with one write, so that whatever ends the run leaves every
finished row whole. A last line that was cut is no error. A file that is nobody's file of
measurements is never changed.
"""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Mapping
from typing import Final

from collsim.core.measurements_format import (
    DETAIL,
    ROW_COLUMNS,
    SCHEMA,
    SOURCE_COLUMNS,
    MeasuredRow,
)
from collsim.core.measurements_reader import FOREIGN, MOST_BYTES, file_error, parsed, read_rows
from collsim.errors import FileError, InputError
from collsim.files import lock

__all__ = ["SCHEMA", "RowFile", "check_target", "read_rows"]

_BEGIN: Final = json.dumps({"schema": SCHEMA})[:-1].encode()  # of every file
_STDERR: Final = 2


class RowFile:
    """A file of measurements that is being written, by one process at a time.

    One that it made itself and that has no row when it is closed is removed again.

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
        If it can't be written, exists, is no file of measurements, or another process
        writes it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with RowFile(f"{folder.name}/m.jsonl") as file:
    ...     file.append({"clock": "host", "collective": "reduce", "ranks": 2,
    ...                  "size": 8, "seconds": 1.5e-6, "repetitions": 20})
    >>> print(pathlib.Path(f"{folder.name}/m.jsonl").read_text(), end="")
    {"schema": "collsim/measurements/1", "clock": "host"}
    {"collective": "reduce", "ranks": 2, "size": 8, "seconds": 1.5e-06,
     "detail": {"repetitions": 20}}
    >>> read_rows(f"{folder.name}/m.jsonl")
    [{'clock': 'host', 'collective': 'reduce', 'ranks': 2, 'size': 8, 'seconds': 1.5e-06,
      'repetitions': 20}]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], resume: bool = False) -> None:
        self.path = os.fspath(path)
        self._told: dict[str, object] | None = None
        self.rows: list[MeasuredRow] = []
        check_target(self.path, resume)
        try:
            self._descriptor, self._made = _opened(self.path, resume)
        except FileExistsError:
            raise _exists(self.path) from None
        except (OSError, ValueError) as error:
            raise file_error(self.path, error) from error
        self._empty = True
        try:
            self._lock()
            if resume:
                self._take_up()
        except BaseException:
            self._made = False
            self.close()
            raise

    def _lock(self) -> None:
        """Refuse a file that another process writes."""
        # Not in place: its owner may just have removed it, for lack of rows.
        if not lock(self._descriptor) or not self._in_place():
            raise FileError(self.path, "another run is writing it")

    def _in_place(self) -> bool:
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._descriptor))
        except OSError:
            return False

    def _take_up(self) -> None:
        """Read the rows that are there, and cut off a line that was not finished.

        Nothing is cut off before all that is there was recognised.
        """
        try:
            with open(os.dup(self._descriptor), "rb") as file:
                file.seek(0)
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise FileError(self.path, error) from error
        if len(data) > MOST_BYTES:
            raise FileError(self.path, FOREIGN)
        whole = data.rfind(b"\n") + 1
        rest = data[whole:]
        # Zeros that a machine without power left there are no notes of somebody's.
        told = rest.strip(b"\0")
        if whole:
            self.rows = list(parsed(self.path, data[:whole].decode("utf-8", "replace")))
            if told and not told.startswith(b"{"):
                line = data.count(b"\n") + 1
                raise FileError(self.path, f"line {line} is no row of {SCHEMA}")
        elif rest and not _cut_header(rest):
            raise FileError(self.path, FOREIGN)
        if rest:
            try:
                os.ftruncate(self._descriptor, whole)
            except OSError as error:
                raise FileError(self.path, error) from error

    def append(self, row: Mapping[str, object]) -> None:
        """Write one row; once this returns, the operating system has all of it.

        Keys that say where it came from go to a header, unless the last one says the same;
        those that are no column of the format go under ``detail``. None is left out.

        Raises
        ------
        FileError
            If it can't be written, or somebody has removed the file; then all of its rows
            are written once more.
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
        self._empty = False
        if not self._in_place():
            raise self._rescued()

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._descriptor, data)
        except OSError as error:
            raise FileError(self.path, error) from error
        if written < len(data):
            raise FileError(self.path, "the disk is full")

    def _rescued(self) -> FileError:
        """Return the error of a file that somebody removed, its rows written anew."""
        replaced = os.path.lexists(self.path)
        path = f"{self.path}.kept" if replaced else os.path.realpath(self.path)
        how = "replaced by another file" if replaced else "removed"
        try:
            with open(os.dup(self._descriptor), "rb") as old, open(path, "xb") as new:
                old.seek(0)
                new.write(old.read())
        except OSError as error:
            return FileError(self.path, f"was {how}, and its rows are lost: {error.strerror}")
        where = f"in {path}" if replaced else "there again, --resume goes on"
        return FileError(self.path, f"was {how} while rows were measured; they are {where}")

    def close(self) -> None:
        """Close the file, and remove it if this made it and wrote no row."""
        if self._made and self._empty and self._in_place():
            with contextlib.suppress(OSError):
                os.unlink(os.path.realpath(self.path))
        self._made = False
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def __enter__(self) -> "RowFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_target(path: str | os.PathLike[str], resume: bool = False) -> None:
    """Raise FileError if no file of measurements can be there; changes and opens nothing.

    Parameters
    ----------
    path : str or path
        Where it is to be.
    resume : bool
        Whether one may be there already.
    """
    path = os.fspath(path)
    if not resume and os.path.lexists(path):
        raise _exists(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise FileError(path, "there is no such folder") from None
        return
    except (OSError, ValueError) as error:
        raise file_error(path, error) from error
    if stat.S_ISDIR(mode):
        raise FileError(path, "is a directory")
    if not stat.S_ISREG(mode):
        raise FileError(path, "is no regular file, and rows are to be kept")


def _opened(path: str, resume: bool) -> tuple[int, bool]:
    """Return the descriptor of a file to append to, and whether it was made."""
    flags = os.O_RDWR | os.O_APPEND
    if resume:
        with contextlib.suppress(FileNotFoundError):
            return _above_streams(os.open(path, flags)), False
        # A link that leads nowhere: what it names is made, and not the link.
        path = os.path.realpath(path)
    made = _above_streams(os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)), True
    try:
        found = os.fstatvfs(made[0])
    except (OSError, AttributeError):
        return made
    if found.f_blocks and not found.f_bfree:
        os.close(made[0])
        os.unlink(path)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return made


def _above_streams(descriptor: int) -> int:
    """Return a descriptor that nobody takes for stderr, where that was closed."""
    if descriptor > _STDERR:
        return descriptor
    try:
        import fcntl

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _STDERR + 1)
    finally:
        os.close(descriptor)


def _cut_header(data: bytes) -> bool:
    """Tell whether the only line of a file is a header that was not finished."""
    if not data.startswith(_BEGIN):
        return _BEGIN.startswith(data)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return True
    return isinstance(found, dict) and not found.keys() - {"schema", *SOURCE_COLUMNS}


def _exists(path: str) -> FileError:
    return FileError(path, "exists; --resume goes on with it, or name another file")


def _line(values: Mapping[str, object]) -> str:
    try:
        return json.dumps(dict(values), allow_nan=False, ensure_ascii=False) + "\n"
    except ValueError as error:
        raise InputError(f"row: {error}, expected finite numbers") from error
