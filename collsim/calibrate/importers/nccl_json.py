"""nccl-tests' JSON output (``-J``), schema 1 to 3, read result by result.

Its block `env` holds the whole environment of whoever ran it, so it is skipped unread; of
`args` only the program's name is looked at.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from collsim.calibrate.importer import Found, Importer, ReadOptions
from collsim.calibrate.importers._json_pull import JsonError, Pull, parsed
from collsim.calibrate.importers._nccl_header import Header, collective_named
from collsim.calibrate.importers._nccl_rows import DTYPES, OPS, Columns, Row
from collsim.calibrate.importers._nccl_table import Table
from collsim.core.measurements import LeftOut, Measurement
from collsim.errors import FileError
from collsim.units import MAX_SIZE

__all__ = ["IMPORTER", "marks"]

_MARK = re.compile(
    r"\"(?:nccl_version|average_bus_bandwidth|actual_iterations|(?:bus|alg)_bw)\"\s*:"
    r"|\"start_time\"\s*:\s*\"\d{4}-"
)
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?")
_KNOWN = (1, 2, 3)
_PART = 4096
_ROOT = re.compile(r"\s*(-?\d{1,6})\s*")


def marks(line: str) -> bool:
    """Return whether a line occurs in nccl-tests' JSON only.

    Examples
    --------
    >>> marks(' "nccl_version": 23007,'), marks('{"nodes": 2}')
    (True, False)
    """
    return '"' in line and _MARK.search(line) is not None


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    pull = Pull(lines)
    failed: FileError | None = None
    rows = 0
    while pull.peek():
        run = _Run(file, options)
        try:
            for found in run.read(pull):
                rows += isinstance(found, Measurement)
                yield found
        except JsonError as error:
            for found in run.resolved():
                rows += isinstance(found, Measurement)
                yield found
            failed = failed or run.failed
            yield LeftOut(file, pull.line, f"no whole JSON: {error}; what follows is not read")
            break
        failed = failed or run.failed
    if failed is not None and not rows:
        raise failed


class _Run:
    """One JSON object: one run of one test."""

    def __init__(self, file: str, options: ReadOptions) -> None:
        self.file = file
        self.options = options
        self.failed: FileError | None = None
        self._header = Header()
        self._command: str | None = None
        self._validated = True
        self._cpu = False
        self._rows: list[Row] = []
        self._decided: tuple[str, int] | None = None

    def read(self, pull: Pull) -> Iterator[Found]:
        for key in pull.members():
            if key == "results":
                for line in pull.items():
                    left = self._result(line, pull.value())
                    if left is not None:
                        yield left
                    if len(self._rows) >= _PART:
                        yield from self.resolved()
            elif key in ("version", "nccl_version", "args", "config"):
                note = self._said(key, parsed(pull.value()))
                if note is not None:
                    yield note
            else:
                pull.skip()
        yield from self.resolved()

    def _said(self, key: str, value: object) -> str | None:
        if key == "version" and value not in _KNOWN:
            return f"{self.file}: schema version {str(value)[:20]} of nccl-tests is not known"
        if key == "nccl_version" and isinstance(value, int) and 1000 <= value < 10**6:
            self._header.library(value)
        if key == "args" and isinstance(value, list) and value and isinstance(value[0], str):
            self._command = collective_named(value[0])
        if key == "config" and isinstance(value, dict):
            self._configured(value)
        return None

    def _configured(self, config: dict[str, object]) -> None:
        threads, gpus = config.get("nthreads"), config.get("ngpus")
        if _is_whole(threads, 1) and _is_whole(gpus, 1):
            graph = config.get("graph")
            self._header.run(threads, gpus, _is_whole(graph, 1))
        self._validated = config.get("validation") not in (0, "false", False)
        devices = config.get("devices")
        for one in devices if isinstance(devices, list) else ():
            if isinstance(one, dict):
                self._device(one)

    def _device(self, one: dict[str, object]) -> None:
        rank, group, name = one.get("rank"), one.get("group", 0), one.get("device_info")
        if _is_whole(rank, 0) and _is_whole(group, 0):
            pid, host = str(one.get("pid")), str(one.get("hostname"))
            self._header.device(rank, group, pid, host, name if isinstance(name, str) else "")

    def _result(self, line: int, text: str | None) -> LeftOut | None:
        """Take one result; return why it is no row, if it is none."""
        result = parsed(text)
        if not isinstance(result, dict):
            return LeftOut(self.file, line, "a result that is no JSON object of a usual size")
        size, count, dtype = result.get("size"), result.get("count"), result.get("type")
        if not (_is_whole(size, 0) and _is_whole(count, 0)):
            return LeftOut(self.file, line, "a result without a whole size and count")
        if not isinstance(dtype, str) or dtype not in DTYPES:
            return LeftOut(self.file, line, f"a result of type {str(dtype)[:20]!r}")
        op = result.get("redop")
        root = _ROOT.fullmatch(str(result.get("root", "-1"))[:32])
        numbers = [root[1] if root else "-1"]
        for name in ("out_of_place", "in_place"):
            half = result.get(name)
            numbers += self._half(half if isinstance(half, dict) else {})
        row = Row(line, size, count, dtype, op if op in OPS else None, tuple(numbers))
        self._rows.append(row)
        return None

    def _half(self, half: dict[str, object]) -> list[str]:
        self._cpu = self._cpu or "cpu_time" in half
        time = half.get("cpu_time", half.get("time"))
        numbers = [_number(one) for one in (time, half.get("alg_bw"), half.get("bus_bw"))]
        wrong = _number(half.get("nwrong"))
        # What was not checked is "nan", or says 0 although validation was off.
        return [*numbers, "N/A" if wrong == "nan" or not self._validated else wrong]

    def resolved(self) -> list[Found]:
        """Return what the results so far tell."""
        if not self._rows:
            return []
        columns = Columns(root=True, half=4, cpu=self._cpu, error=False, exact=True)
        table = Table(self.file, self._header, columns, self._command, self.options, self._rows)
        table.decided = self._decided
        error = table.settle()
        self.failed = self.failed or error
        self._decided = table.decided
        self._rows = []
        return table.found


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return "nan"
    text = str(value) if isinstance(value, str) or abs(value) <= MAX_SIZE else ""
    return text if _NUMBER.fullmatch(text) else "nan"


def _is_whole(value: object, least: int) -> TypeGuard[int]:
    return type(value) is int and least <= value <= MAX_SIZE


IMPORTER = Importer(
    marks,
    _stream,
    "nccl-tests JSON (-J)",
    "nccl-tests results of size, count, type, out_of_place and in_place times",
    opens=('"nccl_version"',),
)
