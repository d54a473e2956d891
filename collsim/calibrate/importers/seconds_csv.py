"""CSV of seconds per call by ranks, forced algorithm and protocol, collective and bytes.

``nranks,algo,proto,collective,bytes,seconds``; bytes are nccl-tests' size. An empty algo and
proto mean the library's own choice. `p2p` is one message from rank 0 to rank 1, kept as
sendrecv with the algorithm ``p2p``; `sendrecv` lets every rank send to the next.
"""

import os
from collections.abc import Iterable, Iterator
from functools import partial

from collsim.calibrate.importer import Found, Importer, ReadOptions
from collsim.calibrate.importers._csv import Line, cells_of, judged, lines_of, number, whole
from collsim.core.measurements import LeftOut, Measurement, Source
from collsim.nccl.names import ALGORITHMS

__all__ = ["IMPORTER", "marks"]

_REQUIRED = {"nranks", "algo", "proto", "collective", "bytes", "seconds"}
_SPELLED = {name.replace("_", ""): name for name in ALGORITHMS}


def marks(line: str) -> bool:
    """Return whether a line is the head of such a table.

    Examples
    --------
    >>> marks("nranks,algo,proto,collective,bytes,seconds")
    True
    """
    return "nranks" in line and _columns(cells_of(line)) is not None


def _columns(cells: list[str]) -> list[str] | None:
    names = [cell.lower() for cell in cells]
    return names if set(names) >= _REQUIRED and len(names) == len(set(names)) else None


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    clock = _clock(file)
    if clock is not None:
        yield f"{file}: times of the {clock}, by the file's name"
    for line in lines_of(file, lines, _columns, ("seconds", "bytes", "nranks")):
        if isinstance(line, LeftOut):
            yield line
            continue
        yield judged(file, line, partial(_row, file, line, clock, options))


def _clock(file: str) -> str | None:
    """Return whose clock it was: nothing in the table says it."""
    name = os.path.basename(file)
    said = [clock for clock in ("device", "host") if f"{clock}_time" in name]
    return said[0] if len(said) == 1 else None


def _row(file: str, line: Line, clock: str | None, options: ReadOptions) -> Measurement:
    cells = line.cells
    ranks = whole("nranks", cells["nranks"])
    algorithm, protocol = cells["algo"].lower(), cells["proto"].lower()
    name = cells["collective"]
    if name == "p2p":
        name, algorithm = "sendrecv", algorithm or "p2p"
    return Measurement(
        collective=name,
        ranks=ranks,
        nbytes=whole("bytes", cells["bytes"]),
        seconds=number("seconds", cells["seconds"]),
        nodes=options.nodes(ranks) if ranks else None,
        algorithm=_SPELLED.get(algorithm, algorithm) or None,
        protocol=protocol or None,
        source=Source(file, line.number, clock=clock, backend="nccl"),
    )


IMPORTER = Importer(
    marks,
    _stream,
    "CSV of nranks, algo, proto, collective, bytes, seconds",
    "lines of nranks, algo, proto, collective, bytes, seconds",
    opens=("nranks",),
)
