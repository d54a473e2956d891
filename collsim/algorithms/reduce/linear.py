"""Each other rank sends to the root in turn."""

from collsim.algorithms.compose import part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, reverse(part(b, "broadcast", "linear"), adds=True))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost; with gamma the root reduces while the next message comes."""
    return Terms(ranks - 1, ranks - 1, ranks - 1, exact_with_gamma=ranks <= 2)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ + nγ)",
    summary="each rank sends its whole array to the root in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
