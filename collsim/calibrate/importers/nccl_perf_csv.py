"""Tables of nccl-tests results by operation, type, GPUs and elements; times in ms.

``op_name,nccl_dtype,num_gpus,message_size,latency`` and, where they are given, ``version``
and ``device``. `message_size` counts elements of the full buffer (512 MiB of half is
268435456), so rows of two types stand side by side in one table at different sizes.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from collsim.calibrate.importer import Found, Importer, ReadOptions
from collsim.calibrate.importers._csv import Line, cells_of, judged, lines_of, number, whole
from collsim.calibrate.importers._nccl_rows import DTYPES
from collsim.core.measurements import LeftOut, Measurement, Source
from collsim.errors import InputError
from collsim.units import MAX_SIZE

__all__ = ["IMPORTER", "marks"]

_REQUIRED = {"op_name", "nccl_dtype", "num_gpus", "message_size", "latency"}


def marks(line: str) -> bool:
    """Return whether a line is the head of such a table.

    Examples
    --------
    >>> marks("op_name,nccl_dtype,num_gpus,message_size,latency,version,device")
    True
    """
    return "nccl_dtype" in line and _columns(cells_of(line)) is not None


def _columns(cells: list[str]) -> list[str] | None:
    names = [cell.lower() for cell in cells]
    return names if set(names) >= _REQUIRED and len(names) == len(set(names)) else None


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    for line in lines_of(file, lines, _columns, ("latency", "message_size", "num_gpus")):
        if isinstance(line, LeftOut):
            yield line
            continue
        yield judged(file, line, partial(_row, file, line, options))


def _row(file: str, line: Line, options: ReadOptions) -> Measurement:
    cells = line.cells
    dtype = cells["nccl_dtype"]
    if dtype not in DTYPES:
        raise InputError(f"nccl_dtype {dtype[:24]!r} is no type of nccl-tests")
    count = whole("message_size", cells["message_size"])
    nbytes = count * DTYPES[dtype]
    if nbytes > MAX_SIZE:
        raise InputError(f"{count} elements of {dtype} are more bytes than there are")
    ranks = whole("num_gpus", cells["num_gpus"])
    device, version = cells.get("device") or None, cells.get("version") or None
    backend = "rccl" if device is not None and device.startswith("AMD") else "nccl"
    library = f"{backend.upper()} {version}" if version else None
    return Measurement(
        collective=cells["op_name"],
        ranks=ranks,
        nbytes=nbytes,
        seconds=number("latency", cells["latency"], -3),
        dtype=dtype,
        nodes=options.nodes(ranks) if ranks else None,
        source=Source(file, line.number, library, "host", None, device, backend),
    )


IMPORTER = Importer(
    marks,
    _stream,
    "nccl_perf CSV tables",
    "lines of op_name, nccl_dtype, num_gpus, message_size, latency",
    opens=("nccl_dtype",),
)
