"""What the OSU micro-benchmarks measure, and which bytes their size column means."""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Kind", "kind_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One benchmark.

    Parameters
    ----------
    collective : str
        Its counterpart here.
    parts : bool
        Whether the size column is one rank's part of the full buffer: the count that MPI
        is given for each rank. Else it is the whole array.
    pair : bool
        Whether it runs on two ranks, whatever was started.
    root : int, optional
        Root of a rooted collective.
    both : bool
        Whether its bandwidth is the sum of two directions.
    algorithm : str, optional
        ``"p2p"`` for one message one way, which is no exchange.
    """

    collective: str
    parts: bool = False
    pair: bool = False
    root: int | None = None
    both: bool = False
    algorithm: str | None = None


# Titles without "MPI", "Test" and "Latency". all_gather, all_to_all, gather and scatter are
# called with `size` bytes for each rank; reduce_scatter splits an array of `size` bytes.
_KINDS: Final = {
    "allreduce": Kind("all_reduce"),
    "allgather": Kind("all_gather", parts=True),
    "all-to-all personalized exchange": Kind("all_to_all", parts=True),
    "alltoall": Kind("all_to_all", parts=True),
    "broadcast": Kind("broadcast", root=0),
    "bcast": Kind("broadcast", root=0),
    "reduce": Kind("reduce", root=0),
    "reduce_scatter": Kind("reduce_scatter"),
    "gather": Kind("gather", parts=True, root=0),
    "scatter": Kind("scatter", parts=True, root=0),
    "": Kind("sendrecv", pair=True, algorithm="p2p"),
    "bandwidth": Kind("sendrecv", pair=True, algorithm="p2p"),
    "bi-directional bandwidth": Kind("sendrecv", pair=True, both=True),
}
_WORDS = re.compile(r"\b(?:mpi[_-]?|latency|non-blocking)\b|\bmpi_", re.IGNORECASE)


def kind_of(title: str) -> Kind | None:
    """Return what a benchmark measures, by its title, or None if it has no counterpart.

    Examples
    --------
    >>> kind_of("All-to-All Personalized Exchange Latency")
    Kind(collective='all_to_all', parts=True, pair=False, root=None, both=False,
        algorithm=None)
    >>> kind_of("Allgatherv Latency") is None, kind_of("Non-blocking Allreduce Latency").parts
    (True, False)
    """
    plain = " ".join(_WORDS.sub(" ", title).lower().split())
    if plain == "" and "latency" not in title.lower():
        return None
    return _KINDS.get(plain)
