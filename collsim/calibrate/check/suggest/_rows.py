"""What is asked of compared rows, and rows by size."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Protocol

__all__ = ["Compared", "Size", "by_size"]


class Compared(Protocol):
    """What is asked of a row: see `collsim.calibrate.check.CheckRow`."""

    @property
    def collective(self) -> str:
        """Name."""

    @property
    def ranks(self) -> int:
        """Ranks."""

    @property
    def nodes(self) -> int | None:
        """Nodes."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def algorithm(self) -> str | None:
        """What ran, if the log says so."""

    @property
    def measured_us(self) -> float:
        """Microseconds."""

    @property
    def predicted_us(self) -> float:
        """Microseconds."""

    @property
    def verdict(self) -> str:
        """``ok latency bandwidth both faster``; see `collsim.calibrate.check.verdict`."""


@dataclass(frozen=True)
class Size:
    """The median of the rows of one size, in seconds."""

    nbytes: int
    measured: float
    predicted: float

    @property
    def ratio(self) -> float:
        """Measured / predicted."""
        return self.measured / self.predicted


def by_size(rows: Sequence[Compared]) -> list[Size]:
    """Return rows of ascending size, one for each size."""
    found = []
    for size, group in groupby(rows, lambda row: row.size):
        some = list(group)
        measured = median(row.measured_us for row in some)
        predicted = median(row.predicted_us for row in some)
        found.append(Size(size, measured * 1e-6, predicted * 1e-6))
    return found
