"""Pairs swap their messages: in round k, the ranks whose numbers differ by XOR with k."""

from collsim.algorithms._arrange import exchange
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM", "terms"]


def limits(ranks: int) -> str | None:
    """Return why it can't run on so many ranks."""
    if ranks & (ranks - 1) == 0:
        return None
    return (
        f"partners are rank XOR k, so it takes a power of two, not {ranks} ranks; the "
        "rotation of ring takes as many rounds on any number"
    )


def build(b: Builder) -> None:
    """List the operations."""
    exchange(b, lambda rank, mask: rank ^ mask)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ/P)",
    summary="in round k, every rank swaps messages with rank XOR k",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.4 (pairwise exchange)",
    limits=limits,
    symmetry=Symmetry("xor"),
)
