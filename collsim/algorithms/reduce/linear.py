"""Each other rank sends to the root in turn."""

from numpy.typing import ArrayLike

from collsim.algorithms._arrange import from_root
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, root: int, pieces: ArrayLike) -> None:
    """List the messages to `root`, one a round."""
    for rank in from_root(b.ranks, root)[1:]:
        b.next_round()
        b.reduce(rank, root, pieces)


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces.ravel())


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost; with gamma the root reduces while the next message comes."""
    return Terms(ranks - 1, ranks - 1, ranks - 1, exact_with_gamma=ranks <= 2)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ + nγ)",
    summary="each rank sends its whole array to the root in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
