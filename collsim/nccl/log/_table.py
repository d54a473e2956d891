"""NCCL's table of latencies and bandwidths, in the layout of 2.18 and later, and the older one.

Ranks write at the same time, so a table is gathered per source. It ends where the last block's
last collective is, or where another begins.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from collsim.errors import CollsimError
from collsim.nccl.log._message import Message
from collsim.nccl.log.rows import Found, PrintedTable
from collsim.nccl.names import (
    ALGORITHMS,
    PROTOCOLS,
    algorithm_name,
    collective_name,
    protocol_name,
)

__all__ = ["TableReader"]

_ALGORITHM: Final = re.compile(r"\s*Algorithm\s+\|(.*)")
_PROTOCOL: Final = re.compile(r"\s*Protocol\s+\|(.*)")
_WIDE: Final = re.compile(r"\s*Latency/AlgBw \|(.*)")
_THREADS: Final = re.compile(r"\s*Max NThreads \|(.*)")
_ROW: Final = re.compile(r"\s*(Broadcast|Reduce|AllGather|ReduceScatter|AllReduce) \|(.*)")
_VALUE: Final = r"(-?(?:\d+(?:\.\d*)?|\.\d+|nan|inf))"
_CELL: Final = re.compile(rf"\s*{_VALUE}/\s*{_VALUE}\s*", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)
_ROWS: Final = 5


@dataclass
class _Open:
    """A table that has begun."""

    line: int
    layout: str
    columns: list[tuple[str, str]] = field(default_factory=list)
    cells: dict[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)
    threads: dict[tuple[str, str], int] = field(default_factory=dict)
    rows: int = 0
    broken: bool = False


class TableReader:
    """Gathers tables out of the messages of a log.

    Parameters
    ----------
    found : Found
        Where finished tables and broken lines go.
    """

    def __init__(self, found: Found) -> None:
        self._found = found
        self._open: dict[str, _Open] = {}

    def read(self, message: Message) -> bool:
        """Take a message; return whether it is part of a table."""
        text = message.text
        if match := _WIDE.match(text):
            self._begin(message, "wide")
            self._wide(message, _split(match[1]))
        elif match := _ALGORITHM.match(text):
            self._block(message, [name for name in _split(match[1]) if name])
        elif match := _THREADS.match(text):
            self._threads(message, _split(match[1]))
        elif match := _ROW.match(text):
            self._row(message, match[1], _split(match[2]))
        else:
            # The last block names protocols of algorithms that it does not have.
            return _PROTOCOL.match(text) is not None
        return True

    def finish(self) -> None:
        """Close every table."""
        for source in list(self._open):
            self._close(source)

    def _begin(self, message: Message, layout: str) -> _Open:
        self._close(message.source)
        table = self._open[message.source] = _Open(message.line, layout)
        return table

    def _close(self, source: str) -> None:
        table = self._open.pop(source, None)
        if table is None:
            return
        if table.rows != _ROWS:
            self._found.problem(
                table.line, f"a table of which {table.rows} of 5 collectives are there, cut off"
            )
        elif not table.broken:
            self._found.tables.append(
                PrintedTable(
                    self._found.file,
                    table.line,
                    source,
                    table.layout,
                    table.cells,
                    table.threads,
                )
            )

    def _bad(self, table: _Open | None, message: Message, reason: str) -> None:
        if table is not None:
            table.broken = True
        self._found.problem(message.line, reason)

    def _wide(self, message: Message, heads: list[str]) -> None:
        table = self._open[message.source]
        for head in heads:
            algorithm, _, protocol = (part.strip() for part in head.partition("/"))
            column = self._column(table, message, algorithm, protocol)
            table.columns.append(column)

    def _block(self, message: Message, names: list[str]) -> None:
        table = self._open.get(message.source)
        found = [self._column(table, message, name, p) for name in names for p in PROTOCOLS]
        again = table is not None and any(column in table.threads for column in found)
        if table is None or again or table.rows != _ROWS:
            table = self._begin(message, "blocks")
        table.broken |= any(a not in (*ALGORITHMS, "collnet") for a, _ in found)
        table.rows = 0
        table.columns = found

    @staticmethod
    def _name(name: str) -> str:
        # Before 2.14 there was one CollNet.
        return "collnet" if name == "CollNet" else algorithm_name(name)

    def _column(
        self, table: _Open | None, message: Message, algorithm: str, protocol: str
    ) -> tuple[str, str]:
        try:
            return self._name(algorithm), protocol_name(protocol)
        except CollsimError as error:
            self._bad(table, message, str(error))
            return algorithm, protocol

    def _threads(self, message: Message, cells: list[str]) -> None:
        table = self._open.get(message.source)
        if table is None:
            self._found.problem(message.line, "threads of a table that has no head")
        elif len(cells) != len(table.columns) or not all(map(_NUMBER.fullmatch, cells)):
            self._bad(table, message, f"{len(table.columns)} numbers of threads expected")
        else:
            table.threads.update(zip(table.columns, map(int, cells), strict=True))

    def _row(self, message: Message, name: str, cells: list[str]) -> None:
        table = self._open.get(message.source)
        if table is None:
            self._found.problem(message.line, f"a row {name} of a table that has no head")
            return
        table.rows += 1
        matches = [_CELL.fullmatch(cell) for cell in cells]
        values = [(float(match[1]), float(match[2])) for match in matches if match]
        if len(values) != len(table.columns) or len(values) != len(cells):
            expected = len(table.columns)
            reason = f"{name}: {len(values)} cells 'latency/bandwidth', expected {expected}"
            self._bad(table, message, reason)
            return
        ours = collective_name(name)
        for (algorithm, protocol), cell in zip(table.columns, values, strict=True):
            table.cells[ours, algorithm, protocol] = cell


def _split(text: str) -> list[str]:
    """Return the cells of a row; what follows the last bar belongs to someone else."""
    return [cell.strip() for cell in text.split("|")[:-1]]
