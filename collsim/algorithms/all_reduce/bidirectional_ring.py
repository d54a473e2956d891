"""Two rings at once, one each way, with half of the array each."""

import numpy as np

from collsim.algorithms.compose import part, play, then, together
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.setting import Setting
from collsim.core.symmetry import Axes, Symmetry

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    every, halves = np.arange(b.ranks), np.reshape(b.pieces, (2, b.ranks, 1))
    ways = (every, halves[0]), (every[::-1], halves[1, ::-1])
    steps = [
        together(*(part(b, kind, "ring", ranks=ranks, pieces=half) for ranks, half in ways))
        for kind in ("reduce_scatter", "all_gather")
    ]
    play(b, then(*steps))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: through one port both ways take turns."""
    share = (ranks - 1) / ranks
    return Terms(4 * (ranks - 1), 2 * share, share, exact_with_gamma=ranks == 1)


def _halves(setting: Setting, _chunks: int, _channels: int) -> Axes:
    return (2, 0), (setting.ranks, 1)


def parts(ranks: int, chunks: int) -> int:
    """Cut the array into two halves of one part per rank."""
    return 2 * ranks


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="4(P-1)α + 2(P-1)/P·nβ + (P-1)/P·nγ",
    summary="a ring each way, on half of the array: both directions of a cable are busy",
    paper="common on tori and rings of full-duplex cables; Chan et al. 2007, section 4",
    parts=parts,
    symmetry=Symmetry("shift", _halves),
)
