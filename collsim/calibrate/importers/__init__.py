"""Read measurements from files of any known format, told by their content."""

import os
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import TextIOWrapper
from itertools import chain
from typing import Final, TextIO

from collsim.calibrate.importer import LONGEST_LINE, Found, Importer, ReadOptions, collect
from collsim.calibrate.importers._packed import refuse_packed
from collsim.core.arguments import checked
from collsim.core.measurements import LeftOut, Measurement, Measurements, Source
from collsim.errors import FileError, InputError
from collsim.registry import member, names

__all__ = ["Logs", "measurements_of", "read_log", "read_logs", "stream_log"]

Logs = Measurements | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Measurements, or one or several files of them."""

STDIN = "stdin"

_ENDLESS_LINE: Final = 16 << 20  # characters; no program writes such a line
_MOST_HELD: Final = 256 << 20  # characters of what can be read only once
_MOST_UNKNOWN: Final = 32 << 20  # characters before the first line that some format knows
_NOISE: Final = 1 << 20  # of so many characters, those that are no text are counted
_NOISY: Final = 0.2


@checked
def read_logs(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    collective: str | None = None,
    ranks: int | None = None,
    gpus_per_node: int | None = None,
) -> Measurements:
    """Read one or several files; the rows keep the order of the files.

    Parameters
    ----------
    paths : path, or iterable of path
        At least one file; ``-`` is standard input. Notes name a single file without its
        folder. A file that is named twice, or has the same rows as another, counts once.
    collective, ranks, gpus_per_node : optional
        What the files do not say; what they say themselves wins.

    Returns
    -------
    Measurements
        Rows, rows that were left out with their reasons, and notes.

    Raises
    ------
    FileError
        If a file cannot be read, is of no known format, or holds no whole row.
    InputError
        If no file is given.

    Examples
    --------
    >>> rows = read_logs("examples/nccl_tests_all_reduce_8gpu.txt")
    >>> rows.values("collective"), rows.values("ranks"), rows.values("nodes")
    (('all_reduce',), (8,), (1,))
    """
    found = Measurements([])
    options = ReadOptions(collective, ranks, gpus_per_node)
    many = [paths] if isinstance(paths, str | os.PathLike) else paths
    files = [os.fspath(path) for path in many]
    if not files:
        raise InputError("no log given, expected at least one file of measurements")
    seen: dict[object, str] = {}
    for path in files:
        # A name with a NUL byte has no path; whoever opens it says so.
        key: object = path if path == "-" or "\0" in path else os.path.realpath(path)
        if key in seen:
            found += Measurements([], notes=[f"{path}: is given twice and counts once"])
            continue
        one = read_log(path, options)
        if len(files) == 1:
            return _named(one, path)
        rows = tuple(map(_anywhere, one.rows))
        if rows in seen:
            note = f"{path}: has the same rows as {seen[rows]} and counts once"
            one = Measurements([], notes=[note])
        seen[key] = seen[rows] = path
        found += one
    return found


def _anywhere(row: Measurement) -> Measurement:
    """Return a row without the place that it was found at."""
    source: Source = replace(row.source, file="", line=0)
    return replace(row, source=source)


def _named(found: Measurements, path: str) -> Measurements:
    """Return what is in a single file, which notes name without its folder."""
    return replace(found, notes=tuple(_shorter(note, path) for note in found.notes))


def _shorter(note: str, path: str) -> str:
    return note.replace(f"{path}: ", f"{os.path.basename(path)}: ", 1)


def measurements_of(logs: Logs) -> Measurements:
    """Return measurements as they are, or read them from one or several files.

    Examples
    --------
    >>> len(measurements_of("examples/nccl_tests_all_reduce_8gpu.txt"))
    62
    """
    if isinstance(logs, Measurements):
        return logs
    return read_logs(logs)


def read_log(path: str | os.PathLike[str], options: ReadOptions | None = None) -> Measurements:
    """Read one file. See `read_logs`."""
    name, importer, found = _read(path, options)
    return collect(name, importer.rows, found)


def stream_log(
    path: str | os.PathLike[str], options: ReadOptions | None = None
) -> Iterator[Found]:
    """Yield what one file holds as it is read: rows, rows left out, notes.

    Nothing is kept, so memory does not grow with the file.

    Raises
    ------
    FileError
        If the file cannot be read or is of no known format.

    Examples
    --------
    >>> found = stream_log("examples/nccl_tests_all_reduce_8gpu.txt")
    >>> sum(isinstance(one, Measurement) for one in found)
    62
    """
    yield from _read(path, options)[2]


def _read(
    path: str | os.PathLike[str], options: ReadOptions | None
) -> tuple[str, Importer, Iterator[Found]]:
    path, options = os.fspath(path), options or ReadOptions()
    if path == "-" or not os.path.isfile(path):
        # A pipe can be read once only, and its beginning is looked at twice.
        name = STDIN if path == "-" else path
        lines = _stdin() if path == "-" else _text_of(path)
        held: list[str] = []
        importer = _pick(name, _kept(name, lines, held))
        return name, importer, _found(name, importer, chain(held, lines), options, False)
    importer = _pick(path, _text_of(path))
    return path, importer, _found(path, importer, _text_of(path), options, True)


def _found(
    name: str, importer: Importer, lines: Iterable[str], options: ReadOptions, again: bool
) -> Iterator[Found]:
    """Yield what is in a file, which is read once more for tables of another format."""
    watched = _Watched(importer, lines)
    yield from importer.stream(name, watched, options)
    for line, other in watched.strangers:
        if again and importer.mixes and other.mixes:
            try:
                yield from other.stream(name, _text_of(name), options)
            except FileError as error:
                yield LeftOut(name, line, error.reason)
        else:
            yield LeftOut(
                name,
                line,
                f"a table of another format, {other.summary}: put it in its own file",
            )


class _Watched:
    """The lines of a file, and where tables of another format than its own begin."""

    def __init__(self, importer: Importer, lines: Iterable[str]) -> None:
        self._lines = lines
        self._others = [
            (text, other)
            for other in _importers()
            if other is not importer
            for text in other.opens
        ]
        self._first: dict[str, tuple[int, Importer]] = {}

    def __iter__(self) -> Iterator[str]:
        number = 1
        for line in self._lines:
            for text, other in self._others:
                if text in line and other.summary not in self._first and other.marks(line):
                    self._first[other.summary] = number, other
            yield line
            number += line.endswith("\n")

    @property
    def strangers(self) -> list[tuple[int, Importer]]:
        """Where the first table of each other format begins; known after the lines."""
        return list(self._first.values())


def _kept(name: str, lines: Iterable[str], held: list[str]) -> Iterator[str]:
    length = 0
    for line in lines:
        length += len(line)
        if length > _MOST_HELD:
            raise FileError(name, f"no row of measurements in its first {length >> 20} MiB")
        held.append(line)
        yield line


def _pick(path: str, lines: Iterable[str]) -> Importer:
    importers = _importers()
    length, noise, unknown, number = 0, 0, 0, 1
    for line in lines:
        if not length:
            refuse_packed(path, line)
        length += len(line)
        # Thousands of ranks with NCCL_DEBUG=INFO say much before the first row.
        unknown += 0 if " NCCL " in line else len(line)
        noise += line.count("\ufffd") + line.count("\0")
        if length > _NOISE and noise > _NOISY * length:
            reason = f"is no text up to line {number}, expected a log of measurements"
            raise FileError(path, reason)
        for importer in importers:
            if importer.marks(line):
                return importer
        if unknown > _MOST_UNKNOWN:
            raise _unknown(path, importers, f" up to line {number} ({_MOST_UNKNOWN >> 20} MiB)")
        number += line.endswith("\n")
    raise _unknown(path, importers)


def _unknown(path: str, importers: Iterable[Importer], where: str = "") -> FileError:
    known = "; ".join(importer.summary for importer in importers)
    return FileError(path, f"no measurements in a known format{where}, expected {known}")


def _importers() -> list[Importer]:
    return [_importer(name) for name in names(__name__)]


def _importer(name: str) -> Importer:
    found = member(__name__, name, "IMPORTER", "importer")
    if not isinstance(found, Importer):
        raise TypeError(f"{__name__}.{name}.IMPORTER is no Importer")
    return found


def _text_of(path: str) -> Iterator[str]:
    """Yield lines one at a time; noise that is no text becomes a replacement sign."""
    try:
        with (
            open(path, "rb") as data,
            TextIOWrapper(data, _encoding(data.peek(2)), errors="replace") as file,
        ):
            yield from _lines_of(path, file)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(path, error if isinstance(error, OSError) else str(error)) from error


def _stdin() -> Iterator[str]:
    if sys.stdin is None:
        raise FileError("-", "there is no standard input")
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        peek = getattr(sys.stdin.buffer, "peek", None)
        encoding = "utf-8" if peek is None else _encoding(peek(2))
        reconfigure(encoding=encoding, errors="replace")
    try:
        yield from _lines_of(STDIN, sys.stdin)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError("-", error if isinstance(error, OSError) else str(error)) from error


def _encoding(first: bytes) -> str:
    """Return the encoding that the first bytes of a file tell: PowerShell writes UTF-16."""
    return "utf-16" if first[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8"


def _lines_of(name: str, file: TextIO) -> Iterator[str]:
    """Yield lines, of long ones pieces; FileError for one without an end."""
    number, length = 1, 0
    while line := file.readline(LONGEST_LINE):
        length += len(line)
        if length > _ENDLESS_LINE:
            raise FileError(
                name,
                f"line {number} is longer than {_ENDLESS_LINE >> 20} MiB, expected "
                "the text of a log",
            )
        if line.endswith("\n"):
            number, length = number + 1, 0
        yield line
