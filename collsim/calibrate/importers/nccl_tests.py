"""nccl-tests' (and rccl-tests') text output, of every column layout from 2.0 on."""

import re
from collections.abc import Iterable, Iterator

from collsim.calibrate.importer import Found, Importer, ReadOptions, numbered
from collsim.calibrate.importers._lines import clean
from collsim.calibrate.importers._nccl_chosen import Choices
from collsim.calibrate.importers._nccl_header import Header, collective_named
from collsim.calibrate.importers._nccl_rows import (
    Columns,
    Row,
    columns_of,
    foreign_unit,
    impossible_row,
    numbers_of,
    prefix_of,
    rows_of,
    strange_row,
)
from collsim.calibrate.importers._nccl_table import Table
from collsim.core.measurements import LeftOut, Measurement
from collsim.errors import FileError
from collsim.nccl.log import chosen_line

__all__ = ["IMPORTER", "marks"]

_HEADS = re.compile(
    r"nThread:? \d+ nGpus:? \d+ minBytes|Collective test starting:|nccl-tests version"
)
_ENDS = re.compile(
    r"Avg bus bandwidth|Collective test concluded|^\s*#{2,}\s|Out of bounds values"
)
_FAILS = re.compile(r"\bTest (?:\w+ )?failure\b.{0,200}")
_WRONG = re.compile(r"Out of bounds values\s*:\s*(\d{1,19})\s+FAILED")
_AT_MESSAGE = re.compile(r" NCCL [A-Z]+ ")
_COMMA = re.compile(r"(?<!\S)\d{1,12},\d{1,12}(?!\S)")
_PART = 4096  # rows of a table that are held at once; no sweep of sizes has as many
_ORPHAN = 4  # numbers that a half of a row has
_SIZE_AND_COUNT = 2


def marks(line: str) -> bool:
    """Return whether a line occurs in nccl-tests' output only.

    Examples
    --------
    >>> marks("0:  1024  256  float  sum  -1  9.42  0.11  0.16  0  8.97  0.11  0.17  0")
    True
    >>> marks("# OSU MPI-CUDA Allreduce Latency Test v5.7")
    False
    """
    if _HEADS.search(line):
        return True
    text = clean(line)
    return bool(rows_of(text, 0)) or columns_of(text) is not None


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    reader = _Reader(file, options)
    for number, line in numbered(lines):
        reader.take(line, number)
        if reader.found:
            yield from reader.drained()
    reader.finish()
    yield from reader.drained()
    if reader.failed is not None and not reader.rows:
        raise reader.failed


class _Reader:
    """Follows a log: heads, tables, rows, and rows that other lines cut in two."""

    def __init__(self, file: str, options: ReadOptions) -> None:
        self.file = file
        self.options = options
        self.found: list[Found] = []
        self.rows = 0
        self.failed: FileError | None = None
        self._header = Header()
        self._columns: Columns | None = None
        self._command: str | None = None
        self._chosen = Choices()
        self._table: list[Row] = []
        self._decided: tuple[str, int] | None = None
        self._pending: Row | None = None
        self._prefix: re.Pattern[str] | None = None
        self._comma: re.Match[str] | None = None
        self._last = 0
        self._ended_badly = False

    def drained(self) -> list[Found]:
        """Return what was found since the last time."""
        found, self.found = self.found, []
        return found

    def take(self, line: str, number: int) -> None:
        """Take one line."""
        if " NCCL " in line:
            self._take_message(line)
        text = clean(line)
        if not text or text.isspace():
            return
        rows = rows_of(text, number)
        for row in rows:
            self._add(row)
        if self._pending is not None and rows:
            self._prefix, self._comma = prefix_of(text), _COMMA.search(text)
        impossible = impossible_row(text) or (None if rows else strange_row(text))
        if impossible is not None:
            self._settle()
            self.found.append(LeftOut(self.file, number, impossible))
        if rows or impossible is not None:
            return
        numbers = numbers_of(self._unlabelled(text))
        if numbers:
            self._continue(numbers, number)
            return
        columns = columns_of(text)
        if columns is not None:
            self._close()
            self._columns = columns
        elif _ENDS.search(text):
            self._check_end(text, number)
            self._end()
            self._header.absorb(text)
        elif failure := _FAILS.search(text):
            self._fail(f"the run ended with an error: {failure[0].strip()}", number)
        else:
            self._refuse_units(text, number)
            self._take_head(text)

    def finish(self) -> None:
        """Take the end of the file."""
        self._close()

    def _unlabelled(self, text: str) -> str:
        """Return the rest of a row without the label that its beginning has, too."""
        if self._pending is None or self._prefix is None:
            return text
        found = self._prefix.match(text)
        return text if found is None else text[found.end() :]

    def _take_message(self, line: str) -> None:
        if "version" in line or "set by environment" in line:
            self._header.absorb(line)
        if "Bytes -> " in line:
            # Messages of several processes may share a line.
            for part in _AT_MESSAGE.split(line):
                choice = chosen_line(part)
                if choice is not None:
                    self._chosen.add(choice)

    def _refuse_units(self, text: str, number: int) -> None:
        unit = foreign_unit(text) if "(" in text and self._columns is not None else None
        if unit is not None:
            raise FileError(
                self.file,
                f"line {number}: a column in ({unit}), expected sizes in (B), times in (us) "
                "and bandwidths in (GB/s)",
            )

    def _check_end(self, text: str, number: int) -> None:
        found = _WRONG.search(text)
        if found is not None:
            values = "1 value" if found[1] == "1" else f"{found[1]} values"
            self._fail(f"the run ended with {values} out of bounds: FAILED", number)

    def _fail(self, reason: str, number: int) -> None:
        """Say once a run that it failed: every rank does."""
        if not self._ended_badly:
            self.found.append(LeftOut(self.file, number, reason, failed=True))
        self._ended_badly = True

    def _take_head(self, text: str) -> None:
        named = collective_named(text)
        if self._header.begins(text):
            self._end()
        if named is not None and "Collective test" not in text:
            self._command = named
        self._header.absorb(text)

    def _add(self, row: Row) -> None:
        self._settle()
        self._ended_badly = False
        if row.halves(self._columns) is None:
            self._pending = row
            return
        # Sizes ascend within a sweep; without a head, a drop may be another run.
        if row.nbytes < self._last:
            self._close()
        self._table.append(row)
        self._last = row.nbytes
        if len(self._table) >= _PART:
            self._resolve()

    def _continue(self, numbers: tuple[str, ...], line: int) -> None:
        if self._pending is not None:
            self._pending = self._pending.extended(numbers)
            if self._pending.halves(self._columns) is not None:
                row, self._pending = self._pending, None
                self._add(row)
        elif len(numbers) >= _ORPHAN and "." in numbers[0]:
            self.found.append(LeftOut(self.file, line, "half a row, without its size"))
        elif len(numbers) == _SIZE_AND_COUNT and "".join(numbers).isdigit():
            self.found.append(LeftOut(self.file, line, "a row cut before its type"))

    def _settle(self) -> None:
        if self._pending is not None:
            row, self._pending = self._pending, None
            count = len(row.numbers)
            numbers = "1 number" if count == 1 else f"{count} numbers"
            reason = f"cut after {numbers}, expected time algbw busbw #wrong twice"
            if self._comma is not None:
                reason = f"a number {self._comma[0]!r}, expected a decimal point and no comma"
            self.found.append(LeftOut(self.file, row.line, reason))

    def _end(self) -> None:
        """End a run: its header says nothing about what follows."""
        self._close()
        self._header = Header()
        self._chosen = Choices()

    def _close(self) -> None:
        """End a table."""
        self._settle()
        self._resolve()
        self._decided, self._last = None, 0

    def _resolve(self) -> None:
        if not self._table:
            return
        table = Table(
            self.file,
            self._header,
            self._columns,
            self._command,
            self.options,
            self._table,
            self._chosen,
        )
        table.decided = self._decided
        error = table.settle()
        self.failed = self.failed or error
        self._decided = table.decided
        self.found += table.found
        self.rows += sum(isinstance(one, Measurement) for one in table.found)
        self._table = []


IMPORTER = Importer(
    marks,
    _stream,
    "nccl-tests text output",
    "nccl-tests lines of size, count, type, times",
    opens=("nThread", "Collective test starting:", "algbw"),
    mixes=True,
)
