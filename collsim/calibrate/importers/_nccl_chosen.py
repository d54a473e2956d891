"""What NCCL chose in a run, by its log: to be looked up by the run's timing rows.

NCCL prints such lines with ``NCCL_DEBUG=INFO`` and the TUNING subsystem from 2.20 on
(facts file, section 8). Up to 2.23 the bytes are the collective's total and the names are
numbers; from 2.24 on they are count times element, one rank's part for all_gather and
reduce_scatter.
"""

from typing import Final

from collsim.nccl.log import Chosen

__all__ = ["Choices"]

# Where none of NCCL's algorithms ran: kernels on registered windows, and copies.
_OTHERS: Final = {
    "symmetric": "symmetric",
    "copy_engine": "copy_engine",
    "hierarchical_copy_engine": "copy_engine",
}


class Choices:
    """Gathers the choices of one run, to be looked up by its rows.

    Examples
    --------
    >>> from collsim.nccl.log import chosen_line
    >>> choices = Choices()
    >>> choices.add(chosen_line("AllGather: 512 Bytes -> Algo RING proto LL "
    ...     "channel{Lo..Hi}={0..3}"))
    >>> choices.of("all_gather", nbytes=4096, part=512)
    (('ring', 'll'),)
    """

    MOST: Final = 1 << 16
    """Different calls of one run that are remembered; no sweep has as many sizes."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str | None, int, bool], set[tuple[str, str | None]]] = {}

    def __bool__(self) -> bool:
        """Whether any choice was told."""
        return bool(self._seen)

    def add(self, line: Chosen) -> None:
        """Take one line. Those of releases that number algorithms count all bytes."""
        key = line.collective, line.nbytes, line.time_us is None
        if key in self._seen or len(self._seen) < self.MOST:
            algorithm = line.algorithm or _OTHERS[line.kind]
            self._seen.setdefault(key, set()).add((algorithm, line.protocol))

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
