"""The file format ``collsim/measurements/1``: measured rows as JSON lines, or as CSV.

JSON lines are for programs: a line with ``schema`` tells what holds for the rows after it
(library, clock, process model, device, backend, columns), every other line is a row, or a
call that gave none (``left_out``: the reason). What else a writer knows of a row stands under
``detail``, which is the writer's own; of it only ``pattern`` is read, which tells messages
between ranks from collectives. Rows are appended as they come, so that a run
that dies leaves all but its last line whole; a later run appends a header of its own. See
:mod:`collsim.core.measurements_file` for the writer.

CSV is for people: one line of columns, `COLUMNS`, of which `collective`, `ranks`, `size` and
`seconds` must be there; an empty cell is what is not known.
"""

from collections.abc import Mapping
from typing import Final, TypedDict

from collsim.core.measurements import Measurement, Source
from collsim.errors import InputError
from collsim.units import MAX_SIZE

__all__ = [
    "COLUMNS",
    "DETAIL",
    "ROW_COLUMNS",
    "SCHEMA",
    "SOURCE_COLUMNS",
    "MeasuredRow",
    "row_of",
    "source_of",
]

SCHEMA: Final = "collsim/measurements/1"


class MeasuredRow(TypedDict, total=False):
    """All that is said of a row of live measurements: `ROW_COLUMNS`, where from, and detail.

    Seconds of one call, bytes of the full buffer. What is not known is not there; a writer may
    say more than this.
    """

    collective: str
    ranks: int
    nodes: int
    size: int
    count: int
    dtype: str
    op: str
    root: int
    algorithm: str
    protocol: str
    in_place: bool
    wrong: int
    seconds: float
    library: str
    clock: str
    process_model: str
    device: str
    backend: str
    pattern: str
    pairs: list[list[int]]
    at_once: int
    world: int
    ranks_per_node: int
    runs: str
    chunks: int
    repetitions: int
    low: float
    high: float
    relative_error: float


# Column -> field and type; bytes of the full buffer, seconds of one call.
ROW_COLUMNS: Final[Mapping[str, tuple[str, type[str | int | float]]]] = {
    "collective": ("collective", str),
    "ranks": ("ranks", int),
    "nodes": ("nodes", int),
    "size": ("nbytes", int),
    "count": ("count", int),
    "dtype": ("dtype", str),
    "op": ("op", str),
    "root": ("root", int),
    "algorithm": ("algorithm", str),
    "protocol": ("protocol", str),
    "in_place": ("in_place", bool),
    "wrong": ("wrong", int),
    "seconds": ("seconds", float),
}
SOURCE_COLUMNS: Final[Mapping[str, str]] = {
    "library": "version",
    "clock": "clock",
    "process_model": "process_model",
    "device": "device",
    "backend": "backend",
}
COLUMNS: Final = (*ROW_COLUMNS, *SOURCE_COLUMNS)
DETAIL: Final = "detail"
"""Key of a row whose value is the writer's own."""
_REQUIRED = ("collective", "ranks", "size", "seconds")
_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def row_of(values: Mapping[str, object], source: Source) -> Measurement:
    """Return the row that `values` of `ROW_COLUMNS` tell; other keys are not looked at.

    Raises
    ------
    InputError
        If a required value is missing, of another type, or cannot be true.
    UnknownNameError
        If there is no such collective.

    Examples
    --------
    >>> row = row_of({"collective": "allreduce", "ranks": 2, "size": 8, "seconds": 1e-6},
    ...     Source("a.jsonl", 2))
    >>> row.collective, str(row.source)
    ('all_reduce', 'a.jsonl:2')
    """
    for name in _REQUIRED:
        if values.get(name) is None:
            raise InputError(f"{name}: is missing, expected {_KINDS[ROW_COLUMNS[name][1]]}")
    fields: dict[str, object] = {}
    for name, (field, kind) in ROW_COLUMNS.items():
        value = values.get(name)
        if value is None:
            continue
        right = isinstance(value, (int, float) if kind is float else kind)
        if not right or isinstance(value, bool) != (kind is bool):
            raise InputError(f"{name}: got {_shown(value)}, expected {_KINDS[kind]}")
        if kind is int and not -1 <= value <= MAX_SIZE:  # type: ignore[operator]
            raise InputError(f"{name}: got {_shown(value)}, expected at most {MAX_SIZE}")
        fields[field] = _real(name, value) if kind is float else value
    return Measurement(**fields, source=source)  # type: ignore[arg-type]


def _real(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError as error:
        raise InputError(f"{name}: got {_shown(value)}, expected a finite number") from error


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python spells
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:40]}..."


def source_of(values: Mapping[str, object]) -> Source:
    """Return the provenance that a header or the cells of a row tell.

    Examples
    --------
    >>> source_of({"library": "NCCL 2.30.7", "clock": "device"}).version
    'NCCL 2.30.7'
    """
    fields: dict[str, str] = {}
    for name, field in SOURCE_COLUMNS.items():
        value = values.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise InputError(f"{name}: got {_shown(value)}, expected text")
        fields[field] = value
    return Source(**fields)  # type: ignore[arg-type]
