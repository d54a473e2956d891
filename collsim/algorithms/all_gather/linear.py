"""Linear gather to rank 0, then linear broadcast of everything."""

from collsim.algorithms.broadcast import linear as broadcast
from collsim.algorithms.compose import part, play, then
from collsim.algorithms.gather import linear as gather
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, then(part(b, "gather", "linear"), part(b, "broadcast", "linear")))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return gather.terms(ranks, chunks) + broadcast.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2(P-1)α + (P-1)(1+1/P)·nβ",
    summary="rank 0 collects all shares in turn, then sends everything to each in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
