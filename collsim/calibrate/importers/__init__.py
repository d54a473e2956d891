"""Read measurements from files of any known format, told by their content."""

import os
from collections.abc import Iterable, Iterator

from collsim.calibrate.importer import Importer, ReadOptions
from collsim.core.measurements import Measurements
from collsim.errors import FileError, InputError
from collsim.registry import member, names

__all__ = ["Logs", "measurements_of", "read_log", "read_logs"]

Logs = Measurements | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Measurements, or one or several files of them."""

LONGEST_LINE = 1 << 16


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
        At least one file.
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
    read = False
    for path in paths:
        found += read_log(path, options)
        read = True
    if not read:
        raise InputError("no log given, expected at least one file of measurements")
    return found


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
    importer = _pick(path)
    return importer.read(path, _text_of(path), options or ReadOptions())


def _pick(path: str) -> Importer:
    importers = [_importer(name) for name in names(__name__)]
    for line in _text_of(path):
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
            # A limit, because binary noise may go on for gigabytes without a line end.
            while line := file.readline(LONGEST_LINE):
                yield line
    except (OSError, ValueError) as error:
        raise FileError(path, error if isinstance(error, OSError) else str(error)) from error
