"""One table of nccl-tests: whose it is, and which of its rows can be true."""

from collections.abc import Sequence
from dataclasses import replace

from collsim.calibrate.importer import Found, ReadOptions
from collsim.calibrate.importers._nccl_chosen import Choices
from collsim.calibrate.importers._nccl_doubts import Doubts, seconds_of
from collsim.calibrate.importers._nccl_header import Header, is_test
from collsim.calibrate.importers._nccl_implied import (
    collectives_implied,
    factor_range,
    most_even,
    named_in,
    ranks_counted,
    ranks_implied,
)
from collsim.calibrate.importers._nccl_rows import DTYPES, Columns, Half, Row
from collsim.core.collective import collective
from collsim.core.measurements import LeftOut, Measurement, Source
from collsim.errors import FileError, UnknownNameError

__all__ = ["Table"]


class Table:
    """Rows that follow one head; `resolve` fills `found`.

    A long table comes in parts: collective and rank count of the first, `decided`, hold for
    the others.
    """

    def __init__(
        self,
        file: str,
        header: Header,
        columns: Columns | None,
        command: str | None,
        options: ReadOptions,
        rows: Sequence[Row],
        chosen: Choices | None = None,
    ) -> None:
        self.file = file
        self.header = header
        self.columns = columns
        self._doubts = Doubts(columns)
        self.command = command
        self.options = options
        self.rows = rows
        self.chosen = Choices() if chosen is None else chosen
        self.decided: tuple[str, int] | None = None
        self.found: list[Found] = []
        self._several: dict[int, str] = {}
        self._nodes: int | None = None
        self._source = header.source(file, 0, columns is not None and columns.cpu)

    def settle(self) -> FileError | None:
        """Resolve the table; where it tells too little, leave out its rows and say why.

        Other tables of the file may say what this one does not.
        """
        try:
            self.resolve()
        except FileError as error:
            reason = error.reason.partition(": ")[2] or error.reason
            self.found = [LeftOut(self.file, row.line, reason) for row in self.rows]
            return error
        return None

    def resolve(self) -> None:
        """Find collective and rank count, then judge each half of each row."""
        whole = []
        for row in self.rows:
            halves = row.halves(self.columns)
            if halves is not None:
                whole.append((row, row.root(self.columns), halves))
        if self.decided is None:
            name = self._collective(whole)
            try:
                name = collective(name).name
            except UnknownNameError:
                for row, _, _ in whole:
                    self._leave(row, "", f"no model of the collective {name}")
                return
            self.decided = name, self._ranks(name, whole)
        name, ranks = self.decided
        nodes = self.header.nodes if self.header.ranks == ranks else None
        self._nodes = nodes or self.options.nodes(ranks)
        for row, root, halves in whole:
            for half, in_place in zip(halves, (False, True), strict=True):
                reason = self._doubts.of(row, half, name, ranks, in_place)
                if reason is None:
                    self.found.append(self._measurement(row, root, half, name, ranks, in_place))
                else:
                    place = "in place: " if in_place else "out of place: "
                    self._leave(row, place, reason, self._doubts.failed(half, row.dtype))

        if self._several:
            size, choices = next(iter(self._several.items()))
            sizes = "1 size" if len(self._several) == 1 else f"{len(self._several)} sizes"
            self.found.append(
                f"{self.file}: NCCL's log tells several choices at {sizes} of {name}, "
                f"first at {size} bytes: {choices}; only what they share is kept"
            )

    def _leave(self, row: Row, place: str, reason: str, failed: bool = False) -> None:
        self.found.append(LeftOut(self.file, row.line, place + reason, failed))

    def _collective(self, whole: Sequence[tuple[Row, int | None, tuple[Half, Half]]]) -> str:
        said = self.header.collective or self.command
        if said is not None and is_test(said):
            return said
        if self.options.collective is not None:
            return self.options.collective
        if said is not None:
            raise FileError(
                self.file,
                f"line {whole[0][0].line}: rows of {said}_perf, which is no test of "
                "nccl-tests; say with collective=, --collective, what it measures",
            )
        allowed = collectives_implied(whole, self.header.ranks or self.options.ranks)
        name = allowed[0] if len(allowed) == 1 else named_in(self.file, allowed)
        line = whole[0][0].line
        if name is None:
            what = f"{' and '.join(allowed)} apart" if allowed else "the collective"
            raise FileError(
                self.file,
                f"line {line}: the log does not tell {what}; say which with collective=, "
                "--collective",
            )
        how = "its columns" if len(allowed) == 1 else "its columns and the file's name"
        self.found.append(f"{self.file}: {name}, by {how}")
        return name

    def _ranks(
        self, name: str, whole: Sequence[tuple[Row, int | None, tuple[Half, Half]]]
    ) -> int:
        ranges = [factor_range(half) for _, _, halves in whole for half in halves]
        span = ranks_implied(name, [found for found in ranges if found is not None])
        listed = self.header.ranks
        # A device list may be cut, but one device and a bus bandwidth are a contradiction.
        if listed is not None and (listed == 1 or span is None or span[0] <= listed <= span[1]):
            return listed
        if self.options.ranks is not None:
            return self.options.ranks
        if span is None:
            raise FileError(
                self.file,
                f"line {whole[0][0].line}: the log does not tell the number of ranks; "
                "say it with ranks=, --ranks",
            )
        counted = ranks_counted(name, [row for row, _, _ in whole])
        if counted is not None and span[0] <= counted <= span[1]:
            span = counted, counted
        ranks = most_even(*span)
        note = f"{self.file}: {ranks} ranks, by busbw / algbw"
        if listed is not None:
            note += f", although {listed} devices are listed"
        if span[0] < span[1]:
            note += (
                f", whose digits allow {span[0]} to {span[1]}; say it with ranks=, --ranks, "
                "if wrong"
            )
        self.found.append(note)
        return ranks

    def _measurement(
        self, row: Row, root: int | None, half: Half, name: str, ranks: int, in_place: bool
    ) -> Measurement:
        checked = half.wrong != "N/A"
        algorithm, protocol = self._chosen(row, name)
        return Measurement(
            collective=name,
            ranks=ranks,
            nbytes=row.nbytes,
            seconds=seconds_of(half.time, self._doubts.unit),
            count=row.count,
            dtype=row.dtype,
            op=None if row.op == "none" else row.op,
            root=root if root is not None and root >= 0 else None,
            in_place=in_place,
            wrong=0 if checked else None,
            nodes=self._nodes,
            algorithm=algorithm,
            protocol=protocol,
            source=self._source_at(row.line),
        )

    def _source_at(self, line: int) -> Source:
        """Return where a row is from; both halves of a row share one."""
        if self._source.line != line:
            self._source = replace(self._source, line=line)
        return self._source

    def _chosen(self, row: Row, name: str) -> tuple[str | None, str | None]:
        """Return what ran by NCCL's own log, or else what was forced."""
        choices = self.chosen.of(name, row.nbytes, row.count * DTYPES[row.dtype])
        if not choices:
            return self.header.algorithm, self.header.protocol
        algorithms = {algorithm for algorithm, _ in choices}
        protocols = {protocol for _, protocol in choices}
        if len(choices) > 1:
            spelled = ", ".join(f"{a}/{p}" if p else a for a, p in choices)
            self._several.setdefault(row.nbytes, spelled)
        return (
            algorithms.pop() if len(algorithms) == 1 else None,
            protocols.pop() if len(protocols) == 1 else None,
        )
