"""Recursive doubling: partners exchange all that they have, and it doubles in each round."""

import numpy as np

from collsim.algorithms._arrange import log2_up
from collsim.algorithms._fold import hands_in, in_step
from collsim.algorithms._halving import double
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: ranks beyond a power of two hand in, and wait for all the rest."""
    given, kept = hands_in(b.ranks)
    if not given.size:
        _double(b)
        return
    b.expect(b.pieces.size * b.ranks)
    core = np.setdiff1d(np.arange(b.ranks), given)
    known = np.eye(b.ranks, dtype=bool)
    b.next_round()
    b.copy(given, kept, b.pieces[given], **in_step(b))
    known[kept] |= known[given]
    here = np.arange(core.size)
    partners = (here ^ 1 << step for step in range(core.size.bit_length() - 1))
    double(b, core, known[core], partners, in_step(b))
    b.next_round()
    others = np.array([np.delete(np.arange(b.ranks), rank) for rank in given])
    pieces = b.pieces[others].reshape(given.size, -1)
    b.copy(kept, given, pieces, **in_step(b))


def _double(b: Builder) -> None:
    """List rounds on a power of two: before round k, a rank has the shares of 2^k ranks."""
    every = b.every
    for bit in range(log2_up(b.ranks)):
        b.next_round()
        held = (every >> bit << bit)[:, None] + np.arange(1 << bit)
        b.copy(every, every ^ 1 << bit, b.pieces[held].reshape(every.size, -1))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: beyond a power of two a bound.

    Who hands in sends one share; pairs that have handed in exchange twice as much, less than
    2(P-1)/P in all; and what comes back is all but one share.
    """
    extra = log2_up(ranks) - (ranks.bit_length() - 1)
    return Terms(log2_up(ranks) + extra, (1 + 2 * extra) * (ranks - 1) / ranks, exact=not extra)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ (2⌈log P⌉-⌊log P⌋)α + (1+2(⌈log P⌉-⌊log P⌋))(P-1)/P·nβ",
    summary="in round k, ranks that differ in bit k exchange all that they have",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.1 (recursive doubling)",
    symmetry=Symmetry("xor"),
)
