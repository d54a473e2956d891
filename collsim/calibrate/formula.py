"""The formula of an algorithm as a model of measured times."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from collsim.algorithms import algorithm_names, find
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.collective import check_ranks
from collsim.core.profile import MAX_CHUNKS
from collsim.engine.chunks import best_chunks
from collsim.errors import InputError

__all__ = [
    "Chunks",
    "Predicted",
    "Predictor",
    "check_chunks",
    "chunks_of",
    "formula_of",
    "found_for",
    "terms_of",
]

Chunks = int | Literal["auto"]
"""A chunk count, or auto: the best power of two at each size."""


@dataclass(frozen=True)
class Predicted:
    """A predicted time and its parts.

    Parameters
    ----------
    seconds : float
        The time.
    latency : float
        The part that does not depend on the size: what no bytes take, launch, every alpha, and
        messages that wait for others to start.
    transfer : float
        The rest, which grows with the size: bytes times beta or gamma.
    chunks : int
        Into how many chunks a pipelined algorithm cuts the message.
    model : str
        ``formula`` or ``event``.
    """

    seconds: float
    latency: float
    transfer: float
    chunks: int = 1
    model: str = "formula"


Predictor = Callable[[str, int, float], Predicted]
"""``(collective, ranks, nbytes) -> Predicted``: any model that can be checked."""


def check_chunks(chunks: int | str) -> Chunks:
    """Return a chunk count or ``"auto"`` as it is; InputError for anything else."""
    if chunks == "auto":
        return "auto"
    whole = not isinstance(chunks, bool) and isinstance(chunks, int)
    if not (whole and 1 <= int(chunks) <= MAX_CHUNKS):
        raise InputError(
            f"chunks: got {chunks!r}, expected auto or a whole number from 1 to {MAX_CHUNKS}"
        )
    return int(chunks)


@cache
def found_for(collective: str, algorithm: str) -> tuple[str, Algorithm]:
    """Return the algorithm of a collective; one that has only one takes that one.

    Examples
    --------
    >>> found_for("sendrecv", "ring")[0], found_for("broadcast", "ring")[1].chunked
    ('direct', True)
    """
    known = algorithm_names(collective)
    name = known[0] if len(known) == 1 else algorithm
    return name, find(collective, name)


@cache
def terms_of(collective: str, algorithm: str, ranks: int, chunks: int = 1) -> Terms:
    """Return the cost of an algorithm; one that sends its messages whole has one chunk.

    Raises
    ------
    InputError
        If the algorithm does not run on so many ranks, or has no formula.

    Examples
    --------
    >>> terms_of("all_reduce", "ring", 8).betas, terms_of("sendrecv", "ring", 8).alphas
    (1.75, 1)
    """
    check_ranks(ranks)
    name, found = found_for(collective, algorithm)
    reason = found.limits(ranks)
    if reason is not None:
        raise InputError(f"{collective}/{name}: {reason}")
    if ranks == 1:
        return Terms(0.0, 0.0)
    terms = found.terms(ranks, chunks if found.chunked else 1)
    if terms is None:
        raise InputError(f"{collective}/{name}: has no formula, expected an algorithm with one")
    return terms


def chunks_of(
    collective: str,
    algorithm: str,
    ranks: int,
    nbytes: float,
    values: tuple[float, float, float],
    chunks: Chunks = "auto",
) -> int:
    """Return the chunk count at a size, which is 1 where messages are sent whole.

    Parameters
    ----------
    collective, algorithm, ranks, nbytes
        What runs.
    values : tuple of float
        Launch, alpha and beta, by which the best is found.
    chunks : int or "auto"
        What was asked for.

    Examples
    --------
    >>> chunks_of("broadcast", "ring", 10, 32, (0.0, 1.0, 1.0))
    16
    """
    if not found_for(collective, algorithm)[1].chunked:
        return 1
    if chunks != "auto":
        return chunks
    launch, alpha, beta = values

    def seconds(count: int) -> float:
        return launch + terms_of(collective, algorithm, ranks, count).seconds(
            nbytes, alpha, beta
        )

    return best_chunks(nbytes, seconds, by_formula=True)


def formula_of(
    alpha: float, beta: float, launch: float, algorithm: str, chunks: Chunks = 1
) -> Predictor:
    """Return the model ``launch + alphas * alpha + betas * n * beta``.

    Examples
    --------
    >>> model = formula_of(alpha=0.5, beta=0.25, launch=1.0, algorithm="ring")
    >>> model("all_reduce", 2, 8)
    Predicted(seconds=4.0, latency=2.0, transfer=2.0, chunks=1, model='formula')
    """
    check_chunks(chunks)

    def predict(collective: str, ranks: int, nbytes: float) -> Predicted:
        values = (launch, alpha, beta)
        count = chunks_of(collective, algorithm, ranks, nbytes, values, chunks)
        terms = terms_of(collective, algorithm, ranks, count)
        latency = launch + terms.alphas * alpha
        transfer = terms.betas * nbytes * beta
        return Predicted(latency + transfer, latency, transfer, count)

    return predict
