"""Linear reduce to rank 0, then linear scatter."""

from collsim.algorithms.compose import part, play, then
from collsim.algorithms.reduce import linear as reduce
from collsim.algorithms.scatter import linear as scatter
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, then(part(b, "reduce", "linear"), part(b, "scatter", "linear")))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return reduce.terms(ranks, chunks) + scatter.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2(P-1)α + (P-1)n(β + γ) + (P-1)/P·nβ",
    summary="rank 0 adds up all arrays in turn, then sends each rank its share in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
