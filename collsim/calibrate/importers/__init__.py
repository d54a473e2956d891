"""Read measurements from files of any known format, told by their content."""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from collsim.calibrate.importer import Importer, ReadOptions
from collsim.core.measurements import Measurements
from collsim.errors import FileError, InputError
from collsim.registry import member, names

__all__ = ["Logs", "measurements_of", "read_log", "read_logs"]

Logs = Measurements | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Measurements, or one or several files of them."""

LONGEST_LINE = 1 << 16
STDIN = "stdin"


def read_logs(
    paths: Iterable[str | os.PathLike[str]],
    collective: str | None = None,
    ranks: int | None = None,
    gpus_per_node: int | None = None,
) -> Measurements:
    """Read several files; the rows keep the order of the files.

    Parameters
    ----------
    paths : iterable of path
        At least one file; ``-`` is standard input. Notes name a single file without its
        folder.
    collective, ranks, gpus_per_node : optional
        What the files do not say; what they say themselves wins.

    Raises
    ------
    FileError
        If a file cannot be read, is of no known format, or holds no whole row.

    Examples
    --------
    >>> rows = read_logs(["examples/nccl_tests_all_reduce_8gpu.txt"])
    >>> rows.values("collective"), rows.values("ranks"), rows.values("nodes")
    (('all_reduce',), (8,), (1,))
    """
    found = Measurements([])
    options = ReadOptions(collective, ranks, gpus_per_node)
    files = [os.fspath(path) for path in paths]
    if not files:
        raise InputError("no log given, expected at least one file of measurements")
    for path in files:
        found += read_log(path, options)
    if len(files) > 1:
        return found
    return Measurements(
        found.rows, found.left_out, (_shorter(note, files[0]) for note in found.notes)
    )


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
    return read_logs([logs] if isinstance(logs, str | os.PathLike) else logs)


def read_log(path: str | os.PathLike[str], options: ReadOptions | None = None) -> Measurements:
    """Read one file. See `read_logs`."""
    path = os.fspath(path)
    if path == "-":
        # It can be read once only, and is looked at twice.
        lines = list(_stdin())
        return _pick(STDIN, lines).read(STDIN, lines, options or ReadOptions())
    importer = _pick(path, _text_of(path))
    return importer.read(path, _text_of(path), options or ReadOptions())


def _pick(path: str, lines: Iterable[str]) -> Importer:
    importers = [_importer(name) for name in names(__name__)]
    for line in lines:
        for importer in importers:
            if importer.marks(line):
                return importer
    known = "; ".join(importer.summary for importer in importers)
    raise FileError(path, f"no measurements in a known format, expected {known}")


def _importer(name: str) -> Importer:
    found = member(__name__, name, "IMPORTER", "importer")
    if not isinstance(found, Importer):
        raise TypeError(f"{__name__}.{name}.IMPORTER is no Importer")
    return found


def _text_of(path: str) -> Iterator[str]:
    """Yield lines one at a time; noise that is no text becomes a replacement sign."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from _lines_of(file)
    except (OSError, ValueError) as error:
        raise FileError(path, error if isinstance(error, OSError) else str(error)) from error


def _stdin() -> Iterator[str]:
    if sys.stdin is None:
        raise FileError("-", "there is no standard input")
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="replace")
    try:
        yield from _lines_of(sys.stdin)
    except (OSError, ValueError) as error:
        raise FileError("-", error if isinstance(error, OSError) else str(error)) from error


def _lines_of(file: TextIO) -> Iterator[str]:
    # A limit, because binary noise may go on for gigabytes without a line end.
    while line := file.readline(LONGEST_LINE):
        yield line
