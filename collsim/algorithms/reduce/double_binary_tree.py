"""Two binary trees, half of the array up each, chunk by chunk, combining on the way."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._reverse import reverse
from collsim.algorithms.broadcast import double_binary_tree as broadcast
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]


def steps(b: Builder, root: int, halves: NDArray[np.int64], turn: int = 0) -> None:
    """List the pipelined reduction to `root`: the broadcast backwards.

    A rank takes its two children in turns. A leaf has all its chunks ready at once, and
    would otherwise send them before what it forwards in the other tree.

    Parameters
    ----------
    halves : int array, shape (2, c, m)
        Pieces of each chunk of the half that goes up each tree.
    turn : int
        Number of the queue that every receiver keeps for this.
    """
    reverse(b, lambda recorder: broadcast.steps(recorder, root, halves), turn)


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, b.root, b.pieces.reshape(2, b.chunks, 1))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: a bound, as for the broadcast."""
    down = broadcast.terms(ranks, chunks)
    return Terms(down.alphas, down.betas, down.betas, down.exact, exact_with_gamma=False)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ 2(⌈log P⌉-1+c)(α + nβ/(2c) + nγ/(2c))",
    summary="half of the array goes up each of two binary trees, chunk by chunk",
    paper="Sanders, Speck, Träff 2009, Two-tree algorithms for full bandwidth reduction",
    chunked=True,
    parts=broadcast.parts,
)
