"""What an importer is: how to know its format, and how to read it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from collsim.core.collective import check_ranks, collective
from collsim.core.measurements import Measurements

__all__ = ["LONGEST_LINE", "Importer", "ReadOptions"]

LONGEST_LINE: Final = 1 << 16
"""Characters of a line that an importer gets at once; of a longer one it gets pieces."""


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


@dataclass(frozen=True)
class Importer:
    """One format of measurements.

    Parameters
    ----------
    marks : callable
        ``line -> bool``: whether a line occurs in this format only.
    read : callable
        ``(file, lines, options) -> Measurements``; `lines` are read once, in order.
        Raises FileError for a file without a row.
    summary : str
        One line: what the format is.
    """

    marks: Callable[[str], bool]
    read: Callable[[str, Iterable[str], ReadOptions], Measurements]
    summary: str
