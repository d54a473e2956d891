"""Each rank sends the root its share in turn."""

from collsim.algorithms.compose import part, play, reverse
from collsim.algorithms.scatter import linear as scatter
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]

terms = scatter.terms


def build(b: Builder) -> None:
    """List the operations."""
    play(b, reverse(part(b, "scatter", "linear"), adds=False))


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="each rank sends the root its share in turn",
    paper="the naive loop; Thakur, Rabenseifner, Gropp 2005 call it the linear algorithm",
)
