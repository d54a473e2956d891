"""Every rank sends the root its share, all at once."""

from collsim.algorithms.compose import part, play, reverse
from collsim.algorithms.gather import linear
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]

terms = linear.terms


def build(b: Builder) -> None:
    """List the operations.

    They are those of `linear`, in one round instead of one each. As no message waits for
    another's data, both take the same time wherever the order is kept.
    """
    play(b, reverse(part(b, "scatter", "direct"), adds=False))


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="every rank sends the root its share, all at once",
    paper="one step on a full mesh; on one port the linear algorithm of Thakur et al. 2005",
)
