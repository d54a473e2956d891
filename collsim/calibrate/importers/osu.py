"""Tables of the OSU micro-benchmarks: collectives, latency and bandwidth, over MPI or NCCL.

The size column is the full array for allreduce, bcast, reduce and reduce_scatter, and one
rank's part for allgather, alltoall, gather and scatter, which is multiplied by the ranks to
be nccl-tests' size. The rank count stands nowhere in a table, but maybe in the command.
"""

import re
from collections.abc import Iterable, Iterator

from collsim.calibrate.importer import Found, Importer, ReadOptions, numbered
from collsim.calibrate.importers._csv import number, whole
from collsim.calibrate.importers._lines import clean
from collsim.calibrate.importers._osu_kinds import Kind, kind_of
from collsim.calibrate.truth import doubt
from collsim.core.collective import collective
from collsim.core.measurements import LeftOut, Measurement, Source
from collsim.errors import FileError, InputError
from collsim.units import MAX_SIZE

__all__ = ["IMPORTER", "marks"]

_TITLE = re.compile(
    r"#\s*OSU (?P<library>[A-Z]{3,6})(?:-(?P<memory>[A-Za-z]{3,12}))?[ _]"
    r"(?P<title>.{0,60}?)\s*\bTest\b(?:\s+v(?P<version>[\d.]{1,12}))?"
)
_HEAD = re.compile(r"#\s*Size\s+(?P<rest>.*(?:Latency|Bandwidth|MB/s|Comm|\(us\)).*)")
_COLUMN = re.compile(r"[A-Za-z][\w.]*(?: ?[A-Za-z][\w.]*)*(?:/s)?\s?(?:\([^()]{1,8}\))?")
_UNIT = re.compile(r"\(([^()]+)\)")
_DATATYPE = re.compile(r"#\s*Datatype:\s*MPI_([A-Z0-9_]{3,16})")
_MEMORY = re.compile(r"#\s*Send Buffer on (\w+).*Receive Buffer on (\w+)")
_COMMAND = re.compile(
    r"\b(?:mpirun|mpiexec|mpirun_rsh|orterun|prterun|srun)\b.*?\s(?:-np|--np|-n|--ntasks)[\s=]?"
    r"\s*(\d{1,7})(?!\S)"
)
_ROW = re.compile(r"\s*-?\d+\s+\S")
_EARLY = re.compile(r"\s*\d{1,19}(?:\s+\d{1,12}\.\d\d){1,6}(?:\s+\d{1,9}|\s+[A-Z]\w+)?\s*")
_DTYPES = {
    "CHAR": "int8",
    "BYTE": "uint8",
    "INT": "int32",
    "FLOAT": "float",
    "DOUBLE": "double",
}
_TIMES = ("pure comm.", "avg latency", "latency", "bandwidth", "mb/s")
_NO_RANKS = "the log does not tell the number of ranks; say it with ranks=, --ranks"


def marks(line: str) -> bool:
    """Return whether a line is the title of such a table.

    Examples
    --------
    >>> marks("# OSU MPI-CUDA Allreduce Latency Test v5.7"), marks("# size count type")
    (True, False)
    """
    return "OSU " in line and _TITLE.search(line) is not None


def _stream(file: str, lines: Iterable[str], options: ReadOptions) -> Iterator[Found]:
    reader = _Reader(file, options)
    for number_, line in numbered(lines):
        found = reader.take(number_, line)
        if found is not None:
            yield found


class _WrongError(InputError):
    """Results that are not what they must be."""


class _Reader:
    """Follows a log: commands, titles, heads, rows."""

    def __init__(self, file: str, options: ReadOptions) -> None:
        self.file = file
        self.options = options
        self._ranks: int | None = None
        self._title = ""
        self._kind: Kind | None = None
        self._columns: list[str] = []
        self._timed = 0
        self._source: dict[str, str] = {}
        self._dtype: str | None = None

    def take(self, number_: int, line: str) -> Found | None:
        """Take one line; return what it tells."""
        text = clean(line)
        if "#" in text:
            self._comment(text, number_)
            return None
        if self._columns and _ROW.match(text):
            return self._row(number_, text.split(), line.endswith("\n"))
        if _EARLY.fullmatch(text):
            return LeftOut(self.file, number_, "a row before the head of its table")
        command = _COMMAND.search(text)
        if command is not None:
            self._ranks = int(command[1]) or None
        return None

    def _comment(self, text: str, number_: int) -> None:
        title, head = _TITLE.search(text), _HEAD.search(text)
        datatype, memory = _DATATYPE.search(text), _MEMORY.search(text)
        if title is not None:
            self._begin(title)
        elif head is not None:
            self._head(head["rest"], number_)
        elif datatype is not None:
            self._dtype = _DTYPES.get(datatype[1])
        elif memory is not None:
            if "HOST" in (memory[1], memory[2]) and self._source:
                self._source["backend"] += ", host memory"
        else:
            self._columns = []  # of another program: the table is over

    def _begin(self, title: re.Match[str]) -> None:
        self._title = title["title"]
        self._kind = kind_of(self._title)
        self._columns, self._dtype = [], None
        library = title["library"] + (f"-{title['memory']}" if title["memory"] else "")
        version = f"{library}, OSU {title['version']}" if title["version"] else library
        self._source = {"version": version, "backend": title["library"].lower()}

    def _head(self, rest: str, number_: int) -> None:
        names = [found.strip() for found in _COLUMN.findall(rest)]
        plain = [_UNIT.sub("", name).strip().lower() for name in names]
        self._columns = []
        for wanted in _TIMES:
            if wanted in plain:
                at = plain.index(wanted)
                unit = _UNIT.search(names[at])
                if unit is not None and unit[1] not in ("us", "MB/s"):
                    raise FileError(
                        self.file,
                        f"line {number_}: a column in ({unit[1]}), expected (us) or (MB/s)",
                    )
                self._columns, self._timed = plain, at
                return

    def _row(self, number_: int, cells: list[str], ended: bool) -> Found:
        if len(cells) != len(self._columns) + 1:
            reason = f"{len(cells)} cells, expected {len(self._columns) + 1}"
            return LeftOut(self.file, number_, reason)
        if not ended and self._timed == len(self._columns) - 1:
            return LeftOut(self.file, number_, "no line end, so its time may be cut")
        try:
            row = self._measured(number_, cells)
            return row if (why := doubt(row)) is None else LeftOut(self.file, number_, why)
        except _WrongError as error:
            return LeftOut(self.file, number_, str(error), failed=True)
        except (InputError, ValueError) as error:
            return LeftOut(self.file, number_, str(error))

    def _measured(self, number_: int, cells: list[str]) -> Measurement:
        kind = self._kind
        if kind is None:
            raise InputError(f"no model of OSU's {self._title or 'test without a title'}")
        ranks = 2 if kind.pair else self._ranks or self.options.ranks
        if ranks is None:
            raise InputError(_NO_RANKS)
        values = dict(zip(self._columns, cells[1:], strict=True))
        if "fail" in values.get("validation", "").lower():
            raise _WrongError("wrong results: validation failed")
        size = whole("size", cells[0])
        nbytes = size * ranks if kind.parts else size
        if nbytes > MAX_SIZE:
            raise InputError(f"{size} bytes for each of {ranks} ranks")
        seconds, clock = self._seconds(size, values, kind)
        return Measurement(
            collective=kind.collective,
            ranks=ranks,
            nbytes=nbytes,
            seconds=seconds,
            dtype=self._dtype,
            op="sum" if collective(kind.collective).reduces else None,
            root=kind.root,
            nodes=self.options.nodes(ranks),
            algorithm=kind.algorithm,
            source=Source(
                self.file, number_, clock=clock, process_model="process per GPU", **self._source
            ),
        )

    def _seconds(self, size: int, values: dict[str, str], kind: Kind) -> tuple[float, str]:
        """Return the time of one call, and what it is of."""
        name = self._columns[self._timed]
        if name in ("bandwidth", "mb/s"):
            rate = number(name, values[name], 6) / (2 if kind.both else 1)
            if not rate > 0:
                raise InputError("a bandwidth of 0 tells no time")
            # Many messages are under way at once, so this is no latency.
            return size / rate, "host, many messages at once"
        seconds = number(name, values[name], -6)
        bounds = [values.get("min latency"), values.get("max latency")]
        if bounds[0] is not None and bounds[1] is not None:
            low, high = number("min", bounds[0], -6), number("max", bounds[1], -6)
            if not low * 0.999 <= seconds <= high * 1.001:
                raise InputError(
                    f"an average of {values[name]} us outside of {bounds[0]} to {bounds[1]}"
                )
        return seconds, "host, non-blocking" if name == "pure comm." else "host"


IMPORTER = Importer(
    marks,
    _stream,
    "OSU micro-benchmark tables",
    "OSU lines of size and latency or bandwidth",
    opens=("OSU ",),
    mixes=True,
)
