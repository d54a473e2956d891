"""Rotating exchange: in round t, every rank sends to the one t places on."""

from collsim.algorithms._arrange import exchange
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    exchange(b, lambda rank, step: (rank + step) % b.ranks)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ/P)",
    summary="in round t, every rank sends t places on and receives from t places back",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.4 (long messages)",
    symmetry=Symmetry("shift"),
)
