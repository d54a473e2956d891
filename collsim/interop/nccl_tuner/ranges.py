"""NCCL's own choice over all sizes, also where only one of its algorithms is allowed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from collsim.nccl import ChoiceRange, Tuning, smoothed

__all__ = ["TOP", "Own", "at", "doublings"]

# The largest size that NCCL's model is asked for; beyond it nothing changes.
TOP: Final = 2**62


@dataclass(frozen=True, eq=False)
class Own:
    """What NCCL's model says of one collective.

    Parameters
    ----------
    table : Tuning
        The model.
    collective : str
        Of which collective.
    """

    table: Tuning
    collective: str

    @cached_property
    def choice(self) -> tuple[ChoiceRange, ...]:
        """NCCL's choice, from 0 bytes on."""
        return self._ranges(self.table)

    @cached_property
    def pairs(self) -> tuple[ChoiceRange, ...]:
        """The same, channels aside: neighbours of one algorithm and protocol are one range."""
        found: list[ChoiceRange] = []
        for r in self.choice:
            last = found[-1] if found else None
            if last and (last.algorithm, last.protocol) == (r.algorithm, r.protocol):
                found[-1] = replace(last, max_bytes=r.max_bytes)
            else:
                found.append(r)
        return tuple(found)

    def model_us(self, algorithm: str, protocol: str, nbytes: int) -> float | None:
        """Return what NCCL's model says of a time in microseconds; None where it has none."""
        return self._times(nbytes).get((algorithm, protocol))

    def protocol(self, algorithm: str, nbytes: int) -> str:
        """Return the protocol in which NCCL's model has an algorithm the fastest."""
        return at(self._one(algorithm), nbytes).protocol

    def _times(self, nbytes: int) -> dict[tuple[str, str], float]:
        import numpy as np

        times = self.table.times_us(self.collective, np.array([nbytes]))
        return {key: float(time[0]) for key, time in times.items()}

    @cached_property
    def without_switch(self) -> tuple[ChoiceRange, ...]:
        """The same for calls that switches can't reduce, as of a product."""
        names = {r.algorithm for r in self.choice} | {k[1] for k in self.table.cells}
        return self.among([name for name in names if not name.startswith("nvls")])

    def among(
        self, algorithms: Sequence[str], protocol: str | None = None
    ) -> tuple[ChoiceRange, ...]:
        """Return NCCL's choice if it had some of its algorithms, or one protocol, only."""
        cells = {
            key: c
            for key, c in self.table.cells.items()
            if key[1] in algorithms and protocol in (None, key[2])
        }
        return self._ranges(replace(self.table, cells=cells, spare={}))

    def latency(self, algorithm: str, nbytes: int) -> float:
        """Return NCCL's latency of an algorithm in seconds, in its protocol at a size."""
        protocol = self.protocol(algorithm, nbytes)
        return self.table.latency_us(self.collective, algorithm, protocol) * 1e-6

    def _one(self, algorithm: str) -> tuple[ChoiceRange, ...]:
        if algorithm not in self._alone:
            self._alone[algorithm] = self.among([algorithm])
        return self._alone[algorithm]

    @cached_property
    def _alone(self) -> dict[str, tuple[ChoiceRange, ...]]:
        return {}

    def _ranges(self, table: Tuning) -> tuple[ChoiceRange, ...]:
        return smoothed(table.ranges(self.collective, 0, TOP))


def at(ranges: Sequence[ChoiceRange], nbytes: int) -> ChoiceRange:
    """Return the range that a size lies in; the last one for what is above all."""
    return next((r for r in ranges if nbytes <= r.max_bytes), ranges[-1])


def doublings(low: int, high: int, each: int) -> list[int]:
    """Return sizes from one to another, both included, so many for each doubling.

    Examples
    --------
    >>> doublings(8, 32, 1)
    [8, 16, 32]
    """
    count = max(1, math.ceil(math.log2(high / max(1, low)) * each))
    start = max(1, low)
    inner = {round(start * (high / start) ** (i / count)) for i in range(1, count)}
    return sorted({low, high, *(n for n in inner if low < n < high)})
