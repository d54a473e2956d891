"""What an importer is: how to know its format, and how to read it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from collsim.core.collective import check_ranks, collective
from collsim.core.measurements import LeftOut, Measurement, Measurements
from collsim.errors import FileError

__all__ = [
    "LONGEST_LINE",
    "Found",
    "Importer",
    "ReadOptions",
    "collect",
    "numbered",
]

LONGEST_LINE: Final = 1 << 16
"""Characters of a line that an importer gets at once; of a longer one it gets pieces."""

_MOST_ROWS: Final = 250_000
"""Of a file whose rows are held at once; they take 100 MB, and ten seconds to be read."""

Found = Measurement | LeftOut | str
"""What reading a log brings to light: a row, a row that is left out, or a note."""


@dataclass(frozen=True)
class ReadOptions:
    """What the caller knows and a log may not say.

    Parameters
    ----------
    collective : str, optional
        The collective that was measured, in any spelling.
    ranks : int, optional
        Number of ranks.
    gpus_per_node : int, optional
        GPUs of one host that took part.

    Examples
    --------
    >>> ReadOptions(collective="alltoall").collective
    'all_to_all'
    """

    collective: str | None = None
    ranks: int | None = None
    gpus_per_node: int | None = None

    def __post_init__(self) -> None:
        if self.collective is not None:
            object.__setattr__(self, "collective", collective(self.collective).name)
        for value in (self.ranks, self.gpus_per_node):
            if value is not None:
                check_ranks(value)

    def nodes(self, ranks: int) -> int | None:
        """Return how many hosts hold `ranks` ranks, if the caller said enough."""
        if self.gpus_per_node is None:
            return None
        return -(-ranks // self.gpus_per_node)

    def placed(self, row: Measurement) -> Measurement:
        """Return a row with its number of hosts, where only the caller said enough.

        Examples
        --------
        >>> ReadOptions(gpus_per_node=8).placed(Measurement("broadcast", 16, 8, 1e-6)).nodes
        2
        """
        if row.nodes is not None or self.gpus_per_node is None:
            return row
        return replace(row, nodes=self.nodes(row.ranks))


@dataclass(frozen=True)
class Importer:
    """One format of measurements.

    Parameters
    ----------
    marks : callable
        ``line -> bool``: whether a line occurs in this format only.
    stream : callable
        ``(file, lines, options) -> iterator of Found``; `lines` are read once, in order,
        and no more of them is kept than one table.
    summary : str
        One line: what the format is.
    rows : str
        What a row of it looks like, for the error about a file without any.
    opens : tuple of str, optional
        Text that stands in every line by which a table of this format begins.
    mixes : bool, optional
        Whether it passes over what it does not know, so that tables of several such
        formats may stand in one file.
    """

    marks: Callable[[str], bool]
    stream: Callable[[str, Iterable[str], ReadOptions], Iterator[Found]]
    summary: str
    rows: str
    opens: tuple[str, ...] = ()
    mixes: bool = False

    def read(
        self, file: str, lines: Iterable[str], options: ReadOptions | None = None
    ) -> Measurements:
        """Read one log; FileError if it holds no row."""
        return collect(file, self.rows, self.stream(file, lines, options or ReadOptions()))


def collect(file: str, expected: str, found: Iterable[Found]) -> Measurements:
    """Return what was found in one file, rows left out in the order of its lines.

    Raises
    ------
    FileError
        If there is no row; names the first that was left out. Or if there are more than
        250,000.

    Examples
    --------
    >>> collect("a", "rows", [Measurement("broadcast", 2, 8, 1e-6), "a note"]).notes
    ('a note',)
    """
    rows: list[Measurement] = []
    left_out: list[LeftOut] = []
    notes: list[str] = []
    for number, one in enumerate(found):
        if number == _MOST_ROWS:
            raise FileError(file, f"more than {_MOST_ROWS} rows, or lines that look like some")
        if isinstance(one, Measurement):
            rows.append(one)
        elif isinstance(one, LeftOut):
            left_out.append(one)
        else:
            notes.append(one)
    left_out.sort(key=lambda left: left.line)
    if not rows:
        why = f" ({len(left_out)} left out: {left_out[0]})" if left_out else ""
        raise FileError(file, f"no row of measurements, expected {expected}{why}")
    return Measurements(rows, left_out, dict.fromkeys(notes))


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers; the pieces of one long line have one number.

    Examples
    --------
    >>> list(numbered(["a", "b"]))
    [(1, 'a'), (2, 'b')]
    """
    number = 1
    for line in lines:
        yield number, line
        # A piece of a line that is too long is followed by the rest of it.
        number += len(line) < LONGEST_LINE or line.endswith("\n")
