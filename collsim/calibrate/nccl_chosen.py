"""What NCCL's log says it chose: algorithm and protocol of each call.

NCCL prints such lines with ``NCCL_DEBUG=INFO`` and the TUNING subsystem from 2.20 on
(facts file, section 8). Up to 2.23 the bytes are the collective's total and the names are
numbers; from 2.24 on they are count times element, one rank's part for all_gather and
reduce_scatter.
"""

import re
from dataclasses import dataclass
from typing import Final

from collsim.nccl.names import ALGORITHMS, PROTOCOLS

__all__ = ["Chosen", "ChosenLine", "chosen_in"]

_FUNCTIONS = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
    "AlltoAll": "all_to_all",
    "AllToAll": "all_to_all",
    "Gather": "gather",
    "Scatter": "scatter",
}
_LINE = re.compile(
    r"(?:(?<!\w)(?P<function>[A-Z][A-Za-z]{2,20})(?: \[(?P<kind>[A-Za-z ]{1,24})\])?: )?"
    r"(?<![\w.-])(?P<bytes>\d{1,19}) Bytes -> (?P<what>.*)"
)
_BY_NUMBER = re.compile(r"Algo (\d) proto (\d)(?: time ([\d.]{1,20}))?")
_BY_NAME = re.compile(
    r"Algo ([A-Z_]{2,20}) proto ([A-Z\d]{2,10})"
    r"(?: channel\{Lo\.\.Hi\}=\{(\d{1,4})\.\.(\d{1,4})\})?"
)
_KERNEL = re.compile(r"Kernel (\w{1,60})")


@dataclass(frozen=True, slots=True)
class ChosenLine:
    """One choice that NCCL printed.

    Parameters
    ----------
    collective : str or None
        None before 2.23, which did not print it.
    nbytes : int
        Bytes as printed.
    shares : bool
        Whether the bytes are one rank's part where a collective has parts (from 2.24 on).
    algorithm : str
        As NCCL's tuner files spell it: ``"ring"``, ``"nvls_tree"``; ``"symmetric"`` or
        ``"copy_engine"`` where no algorithm ran.
    protocol : str or None
        ``"ll"``, ``"ll128"`` or ``"simple"``.
    channels : (int, int), optional
        First and last channel. A call may be split over several lines.
    seconds : float, optional
        The time that NCCL expected.
    kernel : str, optional
        Name of a symmetric kernel.
    """

    collective: str | None
    nbytes: int
    shares: bool
    algorithm: str
    protocol: str | None
    channels: tuple[int, int] | None = None
    seconds: float | None = None
    kernel: str | None = None


def chosen_in(line: str) -> ChosenLine | None:
    """Return the choice that a line of NCCL's log tells, or None.

    Examples
    --------
    >>> chosen_in("node-a:7:7 [0] NCCL INFO AllGather: 512 Bytes -> Algo RING proto LL "
    ...     "channel{Lo..Hi}={0..3}")
    ChosenLine(collective='all_gather', nbytes=512, shares=True, algorithm='ring',
        protocol='ll', channels=(0, 3), seconds=None, kernel=None)
    >>> chosen_in("[0] NCCL INFO 4096 Bytes -> Algo 0 proto 2 time 25.5").seconds
    2.55e-05
    """
    if " Bytes -> " not in line:
        return None
    found = _LINE.search(line)
    if found is None:
        return None
    function, what = found["function"], found["what"]
    name = _FUNCTIONS.get(function) if function else None
    if function and name is None:
        return None
    nbytes = int(found["bytes"])
    if found["kind"] is not None:
        algorithm = "symmetric" if found["kind"] == "Symmetric" else "copy_engine"
        kernel = _KERNEL.match(what)
        named = kernel[1] if kernel else None
        return ChosenLine(name, nbytes, True, algorithm, None, kernel=named)
    return _by_name(name, nbytes, what) or _by_number(name, nbytes, what)


def _by_name(name: str | None, nbytes: int, what: str) -> ChosenLine | None:
    found = _BY_NAME.match(what)
    if found is None:
        return None
    algorithm, protocol = found[1].lower(), found[2].lower()
    if algorithm not in ALGORITHMS or protocol not in PROTOCOLS:
        return None
    channels = (int(found[3]), int(found[4])) if found[3] else None
    return ChosenLine(name, nbytes, True, algorithm, protocol, channels)


def _by_number(name: str | None, nbytes: int, what: str) -> ChosenLine | None:
    found = _BY_NUMBER.match(what)
    if found is None or int(found[1]) >= len(ALGORITHMS) or int(found[2]) >= len(PROTOCOLS):
        return None
    try:
        seconds = float(f"{found[3]}e-6") if found[3] else None
    except ValueError:
        return None
    algorithm, protocol = ALGORITHMS[int(found[1])], PROTOCOLS[int(found[2])]
    return ChosenLine(name, nbytes, False, algorithm, protocol, seconds=seconds)


class Chosen:
    """Gathers the choices of one run, to be looked up by its rows.

    Examples
    --------
    >>> chosen = Chosen()
    >>> chosen.add(chosen_in("AllGather: 512 Bytes -> Algo RING proto LL "))
    >>> chosen.of("all_gather", nbytes=4096, part=512)
    (('ring', 'll'),)
    """

    MOST: Final = 1 << 16
    """Different calls of one run that are remembered; no sweep has as many sizes."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str | None, int, bool], set[tuple[str, str | None]]] = {}

    def __bool__(self) -> bool:
        """Whether any choice was told."""
        return bool(self._seen)

    def add(self, line: ChosenLine) -> None:
        """Take one line."""
        key = line.collective, line.nbytes, line.shares
        if key in self._seen or len(self._seen) < self.MOST:
            self._seen.setdefault(key, set()).add((line.algorithm, line.protocol))

    def of(self, collective: str, nbytes: int, part: int) -> tuple[tuple[str, str | None], ...]:
        """Return the different choices for a call, none if the log does not tell.

        Parameters
        ----------
        collective : str
            Canonical name.
        nbytes : int
            Size of the full buffer.
        part : int
            Bytes that one rank passes in or gets: count times element.
        """
        keys = [(collective, part, True), (None, part, True)]
        keys += [(collective, nbytes, False), (None, nbytes, False)]
        found = {choice for key in keys for choice in self._seen.get(key, ())}
        return tuple(sorted(found, key=lambda choice: (choice[0], choice[1] or "")))
