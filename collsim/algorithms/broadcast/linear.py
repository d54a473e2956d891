"""The root sends to each other rank in turn."""

from numpy.typing import ArrayLike

from collsim.algorithms._arrange import from_root
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, root: int, pieces: ArrayLike) -> None:
    """List the messages from `root`, one a round."""
    for rank in from_root(b.ranks, root)[1:]:
        b.next_round()
        b.copy(root, rank, pieces)


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces.ravel())


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, ranks - 1)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)(α + nβ)",
    summary="the root sends the whole message to each rank in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
