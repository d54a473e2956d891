"""The root sends every rank its share, all at once."""

import numpy as np

from collsim.algorithms._arrange import from_root
from collsim.algorithms.scatter import linear
from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]

terms = linear.terms


def build(b: Builder) -> None:
    """List the operations.

    They are those of `linear`, in one round instead of one each. As no message waits for
    another's data, both take the same time wherever the order is kept.
    """
    others = from_root(b.ranks, b.root)[1:]
    root = np.full_like(others, b.root)
    b.next_round()
    b.copy(root, others, b.pieces[others])


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="the root sends every rank its share, all at once",
    paper="one step on a full mesh; on one port the linear algorithm of Thakur et al. 2005",
)
