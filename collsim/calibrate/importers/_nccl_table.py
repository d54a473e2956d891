"""One table of nccl-tests: whose it is, and which of its rows can be true."""

from collections.abc import Sequence
from dataclasses import replace

from collsim.calibrate.importer import Found, ReadOptions
from collsim.calibrate.importers._nccl_chosen import Choices
from collsim.calibrate.importers._nccl_header import Header, is_test
from collsim.calibrate.importers._nccl_implied import (
    collectives_implied,
    contradiction,
    factor_range,
    half_unit,
    most_even,
    named_in,
    ranks_counted,
    ranks_implied,
)
from collsim.calibrate.importers._nccl_rows import DTYPES, Columns, Half, Row
from collsim.calibrate.truth import FASTEST
from collsim.core.collective import collective
from collsim.core.measurements import LeftOut, Measurement, Source
from collsim.errors import FileError, UnknownNameError

__all__ = ["Table", "seconds_of"]

# Largest error that the old layout's own check accepted (nccl-tests, common.cu).
_ERRORS = {"half": 1e-2, "bfloat16": 1e-2, "float": 1e-5, "double": 1e-12}
_MS_DECIMALS = 3
_SLACK = 1e-4  # what more than the rounding of both printed numbers may be between them


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
                reason = self._doubt(row, half, name, ranks, in_place)
                if reason is None:
                    self.found.append(self._measurement(row, root, half, name, ranks, in_place))
                else:
                    place = "in place: " if in_place else "out of place: "
                    self._leave(row, place, reason, self._failed(half, row.dtype))

        if self._several:
            size, choices = next(iter(self._several.items()))
            sizes = "1 size" if len(self._several) == 1 else f"{len(self._several)} sizes"
            self.found.append(
                f"{self.file}: NCCL's log tells several choices at {sizes} of {name}, "
                f"first at {size} bytes: {choices}; only what they share is kept"
            )

    def _leave(self, row: Row, place: str, reason: str, failed: bool = False) -> None:
        self.found.append(LeftOut(self.file, row.line, place + reason, failed))

    def _failed(self, half: Half, dtype: str) -> bool:
        """Return whether elements came out wrong; an error that is no number is one, too."""
        if "nan" in half.wrong or "inf" in half.wrong:
            return True
        return half.readable and self._wrong_reason(half.wrong, dtype) is not None

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
                "nccl-tests; say with --collective what it measures",
            )
        allowed = collectives_implied(whole, self.header.ranks or self.options.ranks)
        name = allowed[0] if len(allowed) == 1 else named_in(self.file, allowed)
        line = whole[0][0].line
        if name is None:
            what = f"{' and '.join(allowed)} apart" if allowed else "the collective"
            raise FileError(
                self.file,
                f"line {line}: the log does not tell {what}; say which with --collective",
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
                "say it with --ranks",
            )
        counted = ranks_counted(name, [row for row, _, _ in whole])
        if counted is not None and span[0] <= counted <= span[1]:
            span = counted, counted
        ranks = most_even(*span)
        note = f"{self.file}: {ranks} ranks, by busbw / algbw"
        if listed is not None:
            note += f", although {listed} devices are listed"
        if span[0] < span[1]:
            note += f", whose digits allow {span[0]} to {span[1]}; say it with --ranks if wrong"
        self.found.append(note)
        return ranks

    def _doubt(self, row: Row, half: Half, name: str, ranks: int, in_place: bool) -> str | None:
        """Return why this half of a row cannot be used, or None."""
        if not half.readable:
            return f"time {half.time}, algbw {half.algbw}, busbw {half.busbw}: expected numbers"
        if not float(half.time) > 0:
            return f"a time of {half.time} {self._unit} cannot be true"
        if not self._in_unit(half):
            return f"a time of {half.time} has not the decimals of times in {self._unit}"
        wrong = contradiction(row, name, ranks) or self._wrong_reason(half.wrong, row.dtype)
        if wrong is None and ranks == 1:
            wrong = _doubt_of_one(half, collective(name).bus_factor(1), in_place)
        factor = collective(name).bus_factor(ranks)
        cpu = self.columns is not None and self.columns.cpu
        return wrong or _mismatch(row, half, factor, ranks, self._unit, not cpu)

    def _in_unit(self, half: Half) -> bool:
        """Return whether a time is in the unit of its column.

        A bandwidth tells it, but of few bytes it is 0.00; then the decimals do: three in ms,
        up to two in us.
        """
        if self.columns is not None and self.columns.exact:
            return True
        if float(half.algbw) > 4 * half_unit(half.algbw):
            return True
        decimals = len(half.time.partition("e")[0].partition(".")[2])
        return (decimals == _MS_DECIMALS) == (self._unit == "ms")

    @property
    def _unit(self) -> str:
        return "us" if self.columns is None else self.columns.unit

    def _wrong_reason(self, wrong: str, dtype: str) -> str | None:
        if wrong == "N/A":
            return None
        if self._is_error(wrong):
            most = _ERRORS.get(dtype, 0.0)
            good = float(wrong) <= most
            return None if good else f"an error of {wrong}, at most {most:g} is right"
        count = int(float(wrong))
        return None if count == 0 else f"{count} elements are wrong"

    def _is_error(self, wrong: str) -> bool:
        if self.columns is not None:
            return self.columns.error
        return "e" in wrong or "n" in wrong

    def _measurement(
        self, row: Row, root: int | None, half: Half, name: str, ranks: int, in_place: bool
    ) -> Measurement:
        checked = half.wrong != "N/A"
        algorithm, protocol = self._chosen(row, name)
        return Measurement(
            collective=name,
            ranks=ranks,
            nbytes=row.nbytes,
            seconds=seconds_of(half.time, self._unit),
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


def seconds_of(time: str, unit: str) -> float:
    """Return a printed time in seconds, by one rounding of its decimal.

    Examples
    --------
    >>> seconds_of("9.42", "us"), seconds_of("0.286", "ms")
    (9.42e-06, 0.000286)
    """
    exponent = -3 if unit == "ms" else -6
    mantissa, _, own = time.lower().partition("e")
    return float(f"{mantissa}e{int(own or 0) + exponent}")


def _doubt_of_one(half: Half, factor: float, in_place: bool) -> str | None:
    """Return why the time of one rank alone cannot be used, or None."""
    if in_place:
        return "one rank in place moves nothing, so the time is of no work"
    if factor == 0 and float(half.busbw) > 0:
        return f"one rank has no bus bandwidth, got {half.busbw} GB/s"
    return None


def _mismatch(
    row: Row, half: Half, factor: float, ranks: int, unit: str, moved: bool
) -> str | None:
    """Return which numbers of a row contradict each other or physics, or None.

    Bytes have `moved` by the end of the time, unless it is the CPU's.
    """
    seconds, algbw = seconds_of(half.time, unit), float(half.algbw) * 1e9
    if moved and row.nbytes / seconds > FASTEST:
        return f"{row.nbytes} bytes in {half.time} {unit} are more than any memory moves"
    scale = 1e-3 if unit == "ms" else 1e-6
    spread, margin = half_unit(half.time) * scale, half_unit(half.algbw) * 1e9
    low = row.nbytes / (seconds + spread) * (1 - _SLACK) - margin
    # A time below its own rounding may be anything above 0.
    high = row.nbytes / max(seconds - spread, 1e-12) * (1 + _SLACK) + margin
    if not low <= algbw <= high:
        return (
            f"algbw {half.algbw} does not follow from {row.nbytes} bytes in {half.time} {unit}"
        )
    found = factor_range(half)
    if found is not None and not found[0] <= factor <= found[1]:
        return f"busbw / algbw = {half.busbw}/{half.algbw} does not fit {ranks} ranks"
    return None
