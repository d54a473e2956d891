"""rccl-tests' JSON records: a list with one object for each size, out of place or in place."""

import re
from collections.abc import Iterable, Iterator

from collsim.calibrate.importer import Found, Importer, ReadOptions
from collsim.calibrate.importers._json_pull import JsonError, Pull, parsed
from collsim.calibrate.importers._nccl_doubts import seconds_of
from collsim.calibrate.importers._nccl_implied import half_unit
from collsim.calibrate.truth import doubt
from collsim.core.measurements import LeftOut, Measurement, Source
from collsim.core.measurements_format import row_of
from collsim.errors import InputError, UnknownNameError

__all__ = ["IMPORTER", "marks"]

_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,20})?")
_SLACK = 1e-4


def marks(line: str) -> bool:
    """Return whether a line occurs in rccl-tests' JSON only.

    Examples
    --------
    >>> marks('{"numCycle":0, "name":"AllReduce", "nodes":1, "ranks":2, "ranksPerNode":2')
    True
    """
    return '"ranksPerNode"' in line


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    pull = Pull(lines)
    try:
        while pull.peek():
            for line in pull.items():
                yield _result(file, line, pull.value(1 << 16), options)
    except JsonError as error:
        yield LeftOut(file, pull.line, f"no whole JSON: {error}; what follows is not read")


def _result(file: str, line: int, text: str | None, options: ReadOptions) -> Found:
    record = parsed(text)
    if not isinstance(record, dict):
        return LeftOut(file, line, "a record that is no JSON object of a usual size")
    wrong = False
    try:
        row = _row(file, line, record, options)
        reason, wrong = doubt(row), bool(row.wrong)
    except (InputError, UnknownNameError) as error:
        reason = str(error)
    return row if reason is None else LeftOut(file, line, reason, wrong)


def _row(file: str, line: int, record: dict[str, object], options: ReadOptions) -> Measurement:
    time, algbw = _number(record, "time"), _number(record, "algBw")
    size, ranks, wrong = record.get("size"), record.get("ranks"), record.get("wrong")
    in_place, nodes = record.get("inPlace"), record.get("nodes")
    if in_place not in (0, 1) or isinstance(in_place, bool):
        raise InputError("inPlace: expected 0 or 1")
    op = record.get("redop")
    values = {
        "collective": record.get("name"),
        "ranks": ranks,
        "nodes": options.nodes(ranks) if nodes is None and isinstance(ranks, int) else nodes,
        "size": size,
        "seconds": seconds_of(time, "us"),
        "dtype": record.get("type"),
        "op": None if op == "none" else op,
        "in_place": bool(in_place),
        "wrong": int(wrong) if isinstance(wrong, str) and wrong.isdecimal() else None,
    }
    gpus = record.get("gpusPerRank")
    model = "process per GPU" if gpus == 1 else None
    row = row_of(values, Source(file, line, None, "host", model, None, "rccl"))
    low, high = (float(algbw) + side * half_unit(algbw) for side in (-1, 1))
    spread = half_unit(time) * 1e-6
    least = row.nbytes / (row.seconds + spread) / 1e9
    most = row.nbytes / max(row.seconds - spread, 1e-12) / 1e9
    if least * (1 - _SLACK) > high or most * (1 + _SLACK) < low:
        raise InputError(f"algBw {algbw} does not follow from {row.nbytes} bytes in {time} us")
    return row


def _number(record: dict[str, object], name: str) -> str:
    text = str(record.get(name))
    if _NUMBER.fullmatch(text) is None:
        raise InputError(f"{name} {text[:24]!r}, expected a number")
    return text


IMPORTER = Importer(
    marks,
    _stream,
    "rccl-tests JSON",
    "records of name, ranks, size, inPlace, time",
    opens=('"ranksPerNode"',),
)
