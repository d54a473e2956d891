"""What was measured: rows of times, each with where it came from."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from collsim.core.collective import check_ranks, collective
from collsim.errors import InputError

__all__ = ["CPU_TIME", "LeftOut", "Measurement", "Measurements", "Source"]

CPU_TIME: Final = "CPU time"
"""How a clock is called, or begins, that tells how long a call keeps the CPU busy."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a measurement came from, and how it was timed.

    Parameters
    ----------
    file : str
        File as the caller named it; empty if it never was in one.
    line : int
        Line in that file, counted from 1; 0 without a file.
    version : str, optional
        Communication library and version, such as ``"NCCL 2.29.2"``.
    clock : str, optional
        What the time is of, such as ``"host"`` (mean over calls that follow each
        other, timed at the host) or ``"host, CUDA graph"``. Times of different
        clocks are not comparable at small sizes.
    process_model : str, optional
        ``"process per GPU"``, ``"one process"`` or ``"4 GPUs per process"``. The
        launch of one process for 8 GPUs takes about three times as long.
    device : str, optional
        Name of the GPU; of several in one run each, as ``"NVIDIA A100 + NVIDIA H100"``.
    backend : str, optional
        What moved the data: ``"nccl"``, ``"rccl"``, ``"mpi"``, ``"gloo"``.
    """

    file: str = ""
    line: int = 0
    version: str | None = None
    clock: str | None = None
    process_model: str | None = None
    device: str | None = None
    backend: str | None = None

    def __str__(self) -> str:
        """Return ``file:line``."""
        return f"{self.file}:{self.line}" if self.file else "a row without a file"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured time.

    Parameters
    ----------
    collective : str
        Name of the collective; any spelling is accepted, the canonical one kept.
    ranks : int
        Number of ranks.
    nbytes : int
        Size of the full buffer in bytes, nccl-tests' ``size``.
    seconds : float
        Time of one call.
    count : int, optional
        Elements, as the source counts them.
    dtype, op : str, optional
        Type of an element; reduction, None where nothing is reduced.
    root : int, optional
        Root of a rooted collective.
    in_place : bool
        Whether the result replaced the input.
    wrong : int, optional
        Elements that came out wrong; None if nobody looked.
    nodes : int, optional
        Number of hosts, if known.
    algorithm, protocol : str, optional
        What ran, if known; ``"ring"``, ``"ll128"``.
    source : Source
        Provenance.

    Raises
    ------
    InputError
        If a field cannot be true; names the field and the value.

    Examples
    --------
    >>> row = Measurement("AllReduce", ranks=8, nbytes=1024, seconds=2e-5)
    >>> row.collective, row.seconds
    ('all_reduce', 2e-05)
    """

    collective: str
    ranks: int
    nbytes: int
    seconds: float
    count: int | None = None
    dtype: str | None = None
    op: str | None = None
    root: int | None = None
    in_place: bool = False
    wrong: int | None = None
    nodes: int | None = None
    algorithm: str | None = None
    protocol: str | None = None
    source: Source = Source()

    def __post_init__(self) -> None:
        object.__setattr__(self, "collective", collective(self.collective).name)
        check_ranks(self.ranks)
        for field in ("nbytes", "count", "wrong"):
            _check_whole(field, getattr(self, field), 0, required=field == "nbytes")
        _check_whole("nodes", self.nodes, 1)
        if self.nodes is not None and self.nodes > self.ranks:
            raise InputError(
                f"nodes: got {self.nodes}, expected at most {self.ranks}, the ranks"
            )
        _check_seconds(self.seconds)


def _check_seconds(value: object) -> None:
    real = not isinstance(value, bool) and isinstance(value, int | float)
    if not (real and math.isfinite(value) and value >= 0):  # type: ignore[arg-type,operator]
        raise InputError(f"seconds: got {value!r}, expected a finite time from 0 up")


def _check_whole(field: str, value: object, least: int, required: bool = False) -> None:
    if value is None and not required:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{field}: got {value!r}, expected a whole number from {least} up")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that was found and not used.

    Parameters
    ----------
    file : str
        File that holds it.
    line : int
        Its line, counted from 1.
    reason : str
        Why, in words.
    failed : bool
        Whether the run is at fault and not the file: results came out wrong, or it ended in
        an error.

    Examples
    --------
    >>> print(LeftOut("a.txt", 12, "out of place: 3 elements are wrong"))
    a.txt:12: out of place: 3 elements are wrong
    """

    file: str
    line: int
    reason: str
    failed: bool = False

    def __str__(self) -> str:
        """Return ``file:line: reason``."""
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True)
class Measurements:
    """Rows, and what was left out of them.

    Parameters
    ----------
    rows : iterable of Measurement
        Kept as a tuple.
    left_out : iterable of LeftOut
        Rows that were found and not used.
    notes : iterable of str
        What a reader of the rows must know, such as a rank count that was implied.

    Examples
    --------
    >>> rows = Measurements([Measurement("broadcast", 2, n, 1e-6) for n in (1, 2)])
    >>> len(rows), rows.values("nbytes"), [row.nbytes for row in rows]
    (2, (1, 2), [1, 2])
    """

    rows: tuple[Measurement, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def __init__(
        self,
        rows: Iterable[Measurement],
        left_out: Iterable[LeftOut] = (),
        notes: Iterable[str] = (),
    ) -> None:
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "left_out", tuple(left_out))
        object.__setattr__(self, "notes", tuple(notes))
        for row in self.rows:
            if not isinstance(row, Measurement):
                raise InputError(f"rows: got {row!r}, expected a Measurement")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Measurement]:
        """Iterate over the rows."""
        return iter(self.rows)

    def __add__(self, other: "Measurements") -> "Measurements":
        """Return the rows of both, in order."""
        return Measurements(
            self.rows + other.rows, self.left_out + other.left_out, self.notes + other.notes
        )

    def values(self, field: str) -> tuple[object, ...]:
        """Return the distinct values of a field, ascending, None last."""
        found = {getattr(row, field) for row in self.rows}
        known = sorted(value for value in found if value is not None)
        return (*known, None) if None in found else tuple(known)
