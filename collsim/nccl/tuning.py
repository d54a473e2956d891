"""NCCL's table of latencies and bandwidths, and what it chooses by it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.errors import InputError
from collsim.nccl._channels import Threads, channel_count, launched_count
from collsim.nccl._cost import Cell, cell
from collsim.nccl._enable import enabled, protocol_on
from collsim.nccl._filters import allowed
from collsim.nccl._ranges import find_ranges
from collsim.nccl._time import Curve, curve
from collsim.nccl.choice import Choice, ChoiceRange
from collsim.nccl.communicator import Communicator
from collsim.nccl.names import (
    ALGORITHMS,
    COLLECTIVES,
    PROTOCOLS,
    algorithm_name,
    collective_name,
    protocol_name,
)
from collsim.nccl.versions import Release, release

__all__ = ["Tuning", "tuning"]

Key = tuple[str, str, str]
_NONE: Final = Cell()
_MOST: Final = 2**62
# By NCCL's names, and nccl-tests'.
_EIGHT_BITS: Final = ("fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2")


@checked
@dataclass(frozen=True, eq=False)
class Tuning:
    """NCCL's table for one communicator. Sizes are the larger buffer's bytes, as nccl-tests'.

    Parameters
    ----------
    comm : Communicator
        What it was made for.
    release : Release
        The release of NCCL.
    cells : mapping of (str, str, str) to Cell
        By collective, algorithm and protocol, as NCCL prints them: bandwidth 0 where it is
        not available.
    spare : mapping of (str, str, str) to Cell
        Ring as it was before it was disabled, for releases that fall back on it.
    most_threads : mapping of (str, str) to int
        Most threads by algorithm and protocol, where a log tells; by NCCL's rules else.

    Notes
    -----
    What methods are asked of a collective, an algorithm or a protocol that does not exist is an
    UnknownNameError; sizes below 0 or above 2**62 are an InputError.

    Examples
    --------
    >>> from collsim.nccl.communicator import Communicator, Graph
    >>> graph = Graph(12, 30, 30, type_intra="NVL")
    >>> table = tuning(Communicator(8, 1, 90, {"ring": graph, "tree": graph}))
    >>> round(table.latency_us("all_reduce", "ring", "simple"), 1)
    56.0
    >>> choice = table.choice("all_reduce", 2**30)
    >>> choice.algorithm, choice.protocol, choice.channels
    ('ring', 'simple', 24)
    """

    comm: Communicator
    release: Release
    cells: Mapping[Key, Cell]
    spare: Mapping[Key, Cell] = field(default_factory=dict)
    most_threads: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", MappingProxyType(dict(self.cells)))

    @property
    def version(self) -> str:
        """Release whose rules hold."""
        return self.release.name

    @checked
    def cell(self, collective: str, algorithm: str, protocol: str) -> Cell:
        """Return an entry of the table."""
        return self.cells.get(_key(collective, algorithm, protocol), _NONE)

    @checked
    def latency_us(self, collective: str, algorithm: str, protocol: str) -> float:
        """Return what NCCL's table says of the latency, in microseconds."""
        return self.cell(collective, algorithm, protocol).latency_us

    @checked
    def bandwidth(self, collective: str, algorithm: str, protocol: str) -> float:
        """Return what NCCL's table says of the algorithm bandwidth, in GB/s of 1e9 bytes."""
        return self.cell(collective, algorithm, protocol).bandwidth

    @checked
    def time_us(
        self, collective: str, algorithm: str, protocol: str, nbytes: int
    ) -> float | None:
        """Return the time that NCCL compares, a 32-bit float; None if not available."""
        key = _key(collective, algorithm, protocol)
        entry = self.cells.get(key, _NONE)
        if not entry.bandwidth:
            return None
        return self._curve(key, entry).at(_size(nbytes))

    @checked
    def seconds(
        self, collective: str, algorithm: str, protocol: str, nbytes: int
    ) -> float | None:
        """Return the time of NCCL's model in seconds; None if not available."""
        time = self.time_us(collective, algorithm, protocol, nbytes)
        return None if time is None else time * 1e-6

    @checked
    def choice(
        self, collective: str, nbytes: int, *, dtype: str = "float", op: str = "sum"
    ) -> Choice:
        """Return what NCCL runs.

        Parameters
        ----------
        collective : str
            Name of the collective, ours or NCCL's.
        nbytes : int
            Bytes, in all for all_gather and reduce_scatter.
        dtype, op : str
            Decide whether in-switch reduction applies.

        Returns
        -------
        Choice
            Algorithm, protocol, channels and the time of its model.

        Raises
        ------
        InputError
            If nothing is available, where NCCL fails too.
        """
        nbytes, name = _size(nbytes), collective_name(collective)
        curves = self._candidates(name, dtype, op)
        times = [line.at(nbytes) for line in curves]
        best = min(range(len(times)), key=times.__getitem__)
        algorithm, protocol = curves[best].algorithm, curves[best].protocol
        channels = self.channels(name, algorithm, protocol, nbytes)
        return Choice(algorithm, protocol, channels, times[best])

    @checked
    def ranges(
        self,
        collective: str,
        low: int = 1,
        high: int = 2**33,
        *,
        dtype: str = "float",
        op: str = "sum",
    ) -> tuple[ChoiceRange, ...]:
        """Return what NCCL runs at every size from `low` to `high`, in ranges without gaps.

        Every end is exact: NCCL's choice there and at the next byte differ. Above 1 TiB,
        where rounding alone decides over millions of sizes, some are tried.

        Parameters
        ----------
        collective : str
            Name of the collective, ours or NCCL's.
        low, high : int
            First and last size in bytes.
        dtype, op : str
            Decide whether in-switch reduction applies.

        Raises
        ------
        InputError
            If `low` is above `high`, a size is below 0 or above 2**62, or nothing is available.

        Examples
        --------
        >>> from collsim.nccl.communicator import Communicator, Graph
        >>> graph = Graph(2, 10, 10, type_intra="PIX")
        >>> table = tuning(Communicator(2, 1, 80, {"ring": graph, "tree": graph}))
        >>> for r in table.ranges("broadcast", 1, 2**20)[-3:]:
        ...     print(r.min_bytes, r.max_bytes, r.algorithm, r.protocol, r.channels)
        32768 129999 ring ll 4
        130000 131071 ring simple 3
        131072 1048576 ring simple 4
        """
        name = collective_name(collective)
        low, high = _size(low), _size(high)
        if low > high:
            raise InputError(f"sizes from {low} to {high}: expected the smaller first")
        curves = self._candidates(name, dtype, op)
        breaks = sorted({b for line in curves for b in self._breaks(line)})
        out: list[ChoiceRange] = []
        for start, end, index in find_ranges(curves, low, high):
            line = curves[index]
            inside = [b for b in breaks if start < b <= end]
            for first, last in zip(
                [start, *inside], [*(b - 1 for b in inside), end], strict=True
            ):
                channels = self.channels(name, line.algorithm, line.protocol, first)
                found = ChoiceRange(first, last, line.algorithm, line.protocol, channels)
                if out and replace(out[-1], min_bytes=first, max_bytes=last) == found:
                    found = replace(found, min_bytes=out.pop().min_bytes)
                out.append(found)
        return tuple(out)

    @checked
    def channels(self, collective: str, algorithm: str, protocol: str, nbytes: int) -> int:
        """Return the channels that a call may use at a size (nMaxChannels)."""
        _, a, p = _key(collective, algorithm, protocol)
        return channel_count(self.comm, self.release, self.threads(a, p), a, _size(nbytes))

    @checked
    def launched(self, collective: str, algorithm: str, protocol: str, nbytes: int) -> int:
        """Return the channels that a call alone in its launch gets, which the log shows.

        From 2.23 on, a channel is given no less than 16 or 32 KiB of traffic.
        """
        c, a, p = _key(collective, algorithm, protocol)
        most = self.channels(c, a, p, nbytes)
        return launched_count(self.comm, self.release, (c, a, p), most, _size(nbytes))

    @checked
    def threads(self, algorithm: str, protocol: str) -> Threads:
        """Return the threads that a call may use, and the bytes that each asks for."""
        a, p = algorithm_name(algorithm), protocol_name(protocol)
        threads = Threads.of(self.comm, a, p)
        return replace(threads, most=self.most_threads.get((a, p), threads.most))

    @checked
    def times_us(
        self, collective: str, sizes: NDArray[np.int64]
    ) -> dict[tuple[str, str], NDArray[np.float32]]:
        """Return the times of what is available at many sizes, by algorithm and protocol."""
        curves = self._candidates(collective_name(collective), "float", "sum")
        return {(line.algorithm, line.protocol): line.over(sizes) for line in curves}

    def _curve(self, key: Key, entry: Cell) -> Curve:
        return curve(self.comm, self.release, key, entry)

    def _candidates(self, name: str, dtype: str, op: str) -> list[Curve]:
        if self.comm.ranks == 1:
            return [Curve("ring", "simple", (0,), (0.0,), (float("inf"),))]
        for cells in (self.cells, self.spare):
            out = []
            for algorithm in ALGORITHMS:
                if not allowed(self.comm, self.release.rules, (name, algorithm), dtype, op):
                    continue
                for protocol in PROTOCOLS:
                    entry = cells.get((name, algorithm, protocol), _NONE)
                    if entry.bandwidth:
                        line = self._curve((name, algorithm, protocol), entry)
                        slow = self._last_choice(algorithm, dtype)
                        out.append(line.scaled(1024.0) if slow else line)
            if out:
                return out
        set_ = {
            k: v for k, v in self.comm.environment.items() if k in {"NCCL_ALGO", "NCCL_PROTO"}
        }
        raise InputError(
            f"NCCL has no algorithm and protocol left for {name} of {dtype}"
            + "".join(f", with {k}={v}" for k, v in set_.items())
        )

    def _last_choice(self, algorithm: str, dtype: str) -> bool:
        ring = algorithm == "ring" and self.comm.ranks > 8
        return ring and self.release.rules.fp8 and dtype in _EIGHT_BITS

    def _breaks(self, line: Curve) -> list[int]:
        threads = self.threads(line.algorithm, line.protocol)
        return threads.breaks(self.comm, line.algorithm)


@checked
def tuning(comm: Communicator, version: str = "2.30") -> Tuning:
    """Return the table that NCCL fills for a communicator.

    Parameters
    ----------
    comm : Communicator
        Sizes, machine and graphs.
    version : str
        NCCL's, such as ``"2.30"`` or ``"2.27.5"``.

    Returns
    -------
    Tuning
        Latencies in microseconds, bandwidths in GB/s, and what is chosen by them.

    Raises
    ------
    InputError
        If the version is older than 2.18, or a variable of NCCL says what NCCL refuses.

    Examples
    --------
    >>> from collsim.nccl.communicator import Graph
    >>> graph = Graph(16, 20, 20, type_intra="NVL")
    >>> comm = Communicator(8, 1, 80, {"ring": graph, "tree": graph})
    >>> round(tuning(comm, "2.27").bandwidth("all_gather", "ring", "simple"), 1)
    365.7
    """
    known = release(version)
    if comm.ranks == 1:
        return Tuning(comm, known, {})
    on = enabled(comm, known)
    cells: dict[Key, Cell] = {}
    spare: dict[Key, Cell] = {}
    for c in COLLECTIVES:
        for a in ALGORITHMS:
            for p in PROTOCOLS:
                entry = cell(comm, known, c, a, p)
                cells[c, a, p] = entry if on[c, a, p] else replace(entry, bandwidth=0.0)
                if a == "ring" and _stays(comm, known, c, p):
                    spare[c, a, p] = entry
        if not any(cells[key].bandwidth for key in cells if key[0] == c):
            cells |= {key: entry for key, entry in spare.items() if key[0] == c}
    return Tuning(comm, known, cells, spare)


def _stays(comm: Communicator, known: Release, collective: str, protocol: str) -> bool:
    """Whether ring is kept for where nothing else is left."""
    stays = known.rules.ring_stays
    return stays == "spare" or (
        stays == "protocol" and protocol_on(comm, known, collective, protocol)
    )


def _key(collective: str, algorithm: str, protocol: str) -> Key:
    return collective_name(collective), algorithm_name(algorithm), protocol_name(protocol)


def _size(nbytes: int) -> int:
    if not 0 <= nbytes <= _MOST:
        raise InputError(f"size {nbytes}, expected bytes from 0 to 2**62")
    return int(nbytes)
