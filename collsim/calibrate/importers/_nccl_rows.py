"""The rows of nccl-tests' table, in every column layout from 2.0 on."""

import re
from dataclasses import dataclass
from sys import intern

from collsim.units import MAX_SIZE

__all__ = [
    "DTYPES",
    "OPS",
    "Columns",
    "Half",
    "Row",
    "columns_of",
    "foreign_unit",
    "impossible_row",
    "numbers_of",
    "prefix_of",
    "rows_of",
    "strange_row",
]

DTYPES = {
    **dict.fromkeys(("int8", "uint8", "char", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("half", "bfloat16", "bf16"), 2),
    **dict.fromkeys(("int32", "uint32", "int", "float"), 4),
    **dict.fromkeys(("int64", "uint64", "double"), 8),
}
OPS = ("sum", "prod", "max", "min", "avg", "mulsum", "all", "none")
HALF = 4
PER_ITERATION = 8

_START = re.compile(rf"(?<!\S)(\d{{1,19}})\s+(\d{{1,19}})\s+({'|'.join(DTYPES)})(?!\S)")
_IMPOSSIBLE = re.compile(rf"(?<!\S)(-?\d+)\s+(-?\d+)\s+(?:{'|'.join(DTYPES)})(?!\S)")
_STRANGE = re.compile(
    r"(?<!\S)(\d[\d.,'_]{0,26})\s+(\d[\d.,'_]{0,26})\s+([A-Za-z]\w{1,19})\s+(\S.*)"
)
_WORD = re.compile(r"[A-Za-z]\w{1,19}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|N/A|-?inf|-?nan")
_FINITE = re.compile(r"\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?")
_HEAD = re.compile(r"\b(?:size\s+count|bytes\s+N)\s+type\b(.*)")
# Bandwidths of two decimals without a blank between them, once they outgrow their columns.
_MERGED = re.compile(r"(?:\d{1,12}\.\d\d){2,4}")
_APART = re.compile(r"\d+\.\d\d")
_UNITS = re.compile(r"\s*#?(?:\s*\([^()\s]{1,20}\)){3,20}\s*")
_KNOWN_UNITS = ("B", "bytes", "elements", "us", "\u00b5s", "\u03bcs", "GB/s", "%")
_SHOWN = 24
_DIGITS = re.compile(r"\d+")
_LABELS = ":|]>)/"  # what ends a label; mere words and numbers are no prefix


@dataclass(frozen=True)
class Columns:
    """Which columns a table has, by its head.

    Parameters
    ----------
    root : bool
        Whether there is a root column.
    half : int
        Columns of one half: 4, or 8 with statistics per iteration.
    cpu : bool
        Whether the time is CPU time.
    error : bool
        Whether correctness is given as a largest error and not as a count.
    milliseconds : bool
        Whether times are in ms, as in the first layout, and not in us.
    exact : bool
        Whether times have as many decimals as they need, and not those of their unit.
    """

    root: bool
    half: int
    cpu: bool
    error: bool
    milliseconds: bool = False
    exact: bool = False

    @property
    def unit(self) -> str:
        """Unit of the times."""
        return "ms" if self.milliseconds else "us"


@dataclass(frozen=True)
class Half:
    """One half of a row, as text: time, algbw, busbw in GB/s, #wrong."""

    time: str
    algbw: str
    busbw: str
    wrong: str

    @property
    def readable(self) -> bool:
        """Whether time and bandwidths are finite numbers; #wrong may be N/A."""
        numbers = all(_FINITE.fullmatch(text) for text in (self.time, self.algbw, self.busbw))
        return numbers and (self.wrong == "N/A" or _FINITE.fullmatch(self.wrong) is not None)


@dataclass(frozen=True)
class Row:
    """One row; `numbers` is everything after type and reduction."""

    line: int
    nbytes: int
    count: int
    dtype: str
    op: str | None
    numbers: tuple[str, ...]

    def _rooted(self, columns: Columns | None) -> bool:
        if columns is not None:
            return columns.root
        # Without a head: a ninth number, the first of them whole, is a root.
        odd = len(self.numbers) > PER_ITERATION and len(self.numbers) != 2 * PER_ITERATION
        return odd and re.fullmatch(r"-?\d{1,6}", self.numbers[0]) is not None

    def root(self, columns: Columns | None) -> int | None:
        """Return the root; -1 where the table says there is none, None without a column."""
        if not self._rooted(columns) or not self.numbers:
            return None
        whole = re.fullmatch(r"-?\d{1,6}", self.numbers[0])
        return int(self.numbers[0]) if whole else None

    def halves(self, columns: Columns | None) -> tuple[Half, Half] | None:
        """Return the out-of-place and the in-place half, or None if numbers are missing."""
        numbers = self.numbers[1:] if self._rooted(columns) else self.numbers
        if columns is not None:
            step = columns.half
        else:
            step = PER_ITERATION if len(numbers) >= 2 * PER_ITERATION else HALF
        if len(numbers) < 2 * step:
            return None
        return Half(*numbers[:HALF]), Half(*numbers[step : step + HALF])

    def extended(self, numbers: tuple[str, ...]) -> "Row":
        """Return the row with the numbers of a later line at its end."""
        return Row(
            self.line, self.nbytes, self.count, self.dtype, self.op, self.numbers + numbers
        )


def columns_of(text: str) -> Columns | None:
    """Return the columns if `text` is the head of a table.

    Examples
    --------
    >>> columns_of("# size count type redop time algbw busbw error time algbw busbw error")
    Columns(root=False, half=4, cpu=False, error=True, milliseconds=False, exact=False)
    >>> columns_of("# bytes N type op time algbw busbw res time algbw busbw res").unit
    'ms'
    """
    found = _HEAD.search(text)
    if found is None:
        return None
    names = found[1].split()
    if "algbw" not in names:
        return None
    half = PER_ITERATION if "i_min" in names else HALF
    first = "res" in names
    error = "error" in names or first
    return Columns("root" in names, half, "cputime" in names, error, milliseconds=first)


def foreign_unit(text: str) -> str | None:
    """Return the first unit, in a line of units, that is not of this format's columns.

    Examples
    --------
    >>> foreign_unit("#  (B)  (elements)   (ms)  (GB/s)  (GB/s)  (ms)  (GB/s)  (GB/s)")
    'ms'
    """
    if _UNITS.fullmatch(text) is None:
        return None
    units = re.findall(r"\(([^()]+)\)", text)
    return next((unit for unit in units if unit not in _KNOWN_UNITS), None)


def impossible_row(text: str) -> str | None:
    """Return why a row that begins in `text` cannot be true by its size or count alone.

    Examples
    --------
    >>> impossible_row("  -1024  256  float  sum  -1  9.42  0.11  0.16  0")
    'a size of -1024, expected a whole number from 0 to 9223372036854775807'
    """
    for found in _IMPOSSIBLE.finditer(text):
        for what, number in (("size", found[1]), ("count", found[2])):
            digits = number.lstrip("0") or "0"
            if digits[0] == "-" or len(digits) > len(str(MAX_SIZE)) or int(digits) > MAX_SIZE:
                shown = number if len(number) <= _SHOWN else f"{number[:_SHOWN]}..."
                return f"a {what} of {shown}, expected a whole number from 0 to {MAX_SIZE}"
    return None


def rows_of(text: str, line: int) -> list[Row]:
    """Return the rows that begin in `text`, whole or not; more than one if a line end is lost.

    Whatever stands before the size is a launcher's prefix.

    Examples
    --------
    >>> [row] = rows_of("0: 1024 256 float sum -1 9.42 0.11 0.16 0 8.97 0.11 0.17 0", 7)
    >>> row.nbytes, row.op, row.root(None), row.halves(None)[1].time
    (1024, 'sum', -1, '8.97')
    """
    starts = list(_START.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    rows = []
    for found, end in zip(starts, ends, strict=False):
        if max(int(found[1]), int(found[2])) > MAX_SIZE:
            continue
        words = text[found.end() : end].split()
        op = words.pop(0) if _is_op(words) else None
        # One copy of each word, however many rows there are.
        dtype, op = intern(found[3]), op and intern(op)
        row = Row(line, int(found[1]), int(found[2]), dtype, op, _leading(words))
        rows.append(row)
    return rows


def _is_op(words: list[str]) -> bool:
    """Return whether words begin with a reduction, or with another word before numbers."""
    if not words or words[0] in OPS:
        return bool(words)
    other = _WORD.fullmatch(words[0]) and not _NUMBER.fullmatch(words[0])
    return bool(other) and len(words) > 1 and bool(_NUMBER.fullmatch(words[1]))


def strange_row(text: str) -> str | None:
    """Return why a line that looks like a row is none by its size, count or type, or None.

    Examples
    --------
    >>> strange_row("  1,024  256  float  sum  -1  9.42  0.11  0.16  0  8.97  0.11  0.17  0")
    "a size of '1,024', expected a whole number without separators"
    >>> strange_row("  1024  256  fp6  sum  -1  9.42  0.11  0.16  0  8.97  0.11  0.17  0")
    "type 'fp6' is not known"
    """
    found = _STRANGE.search(text)
    if found is None:
        return None
    words = found[4].split()
    if len(_leading(words[_is_op(words) :])) < 2 * HALF:
        return None
    for what, number in (("size", found[1]), ("count", found[2])):
        if not number.isdigit():
            return f"a {what} of {number!r}, expected a whole number without separators"
    return None if found[3] in DTYPES else f"type {found[3]!r} is not known"


def prefix_of(text: str) -> re.Pattern[str] | None:
    """Return what a launcher put before the row in `text`, its digits left open.

    Examples
    --------
    >>> prefix_of("worker-1  |  1024 256 float").match("worker-2  | 366.5").end()
    11
    >>> prefix_of("   1024 256 float") is None
    True
    """
    found = _START.search(text)
    prefix = text[: found.start()].strip() if found is not None else ""
    if not prefix or not any(letter in prefix for letter in _LABELS):
        return None
    return re.compile(r"\s*" + _DIGITS.sub(r"\\d+", re.escape(prefix)))


def numbers_of(text: str) -> tuple[str, ...]:
    """Return the numbers of a line that holds nothing else, or ().

    Examples
    --------
    >>> numbers_of("   892.85  300.65  300.65  N/A"), numbers_of("12 monkeys")
    (('892.85', '300.65', '300.65', 'N/A'), ())
    """
    words = text.split()
    numbers = _leading(words)
    return numbers if len(numbers) == len(words) else ()


def _leading(words: list[str]) -> tuple[str, ...]:
    numbers = []
    for word in words:
        if _NUMBER.fullmatch(word) is not None:
            numbers.append(word)
        elif _MERGED.fullmatch(word) is not None:
            numbers += _APART.findall(word)
        else:
            break
    return tuple(numbers)
