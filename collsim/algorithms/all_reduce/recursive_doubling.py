"""Partners exchange their whole sums, at a doubling distance."""

import numpy as np

from collsim.algorithms._arrange import log2_up
from collsim.algorithms._fold import fold, in_step, unfold
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations.

    What a partner sends lands in a place of its own, since the sum that it is added to is
    still on its way out. Adding up is paid for on arrival; what is local costs nothing.
    """
    core = fold(b)
    here = b.every if core.size == b.ranks else np.arange(core.size)
    for k in range(core.size.bit_length() - 1):
        b.next_round()
        landed = b.scratch(b.pieces.size)
        whole = np.tile(b.pieces.ravel(), (here.size, 1))
        into = np.tile(landed, (here.size, 1))
        b.reduce(core[here], core[here ^ 1 << k], whole, into, **in_step(b))
        b.reduce(core[here], core[here], into, whole)
    unfold(b)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: ranks beyond a power of two hand in, and wait."""
    up, down = log2_up(ranks), ranks.bit_length() - 1
    rounds = 2 * up - down
    return Terms(rounds, rounds, up)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(2⌈log P⌉-⌊log P⌋)(α + nβ) + ⌈log P⌉nγ",
    summary="ranks at distance 1, 2, 4, ... exchange what they have so far and add it up",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.5; the fold of MPICH for other counts",
    symmetry=Symmetry("xor"),
)
