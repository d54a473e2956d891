"""Log-round exchange with digits to base 4: fewer bytes than `mst`, some more messages."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "steps", "terms"]

# Base 2 is `mst`, base P is `ring`; 4 sends three quarters as many digits as there are bits.
RADIX: Final = 4


def _moves(ranks: int, radix: int) -> Iterator[tuple[int, NDArray[np.int64], bool]]:
    """Yield place by place of the digits: how far, for which distances, whether a new place."""
    place = 1
    every = np.arange(ranks)
    while place < ranks:
        digit = every // place % radix
        for value in range(1, radix):
            distance = every[digit == value]
            if distance.size:
                yield value * place, distance, value == 1
        place *= radix


def steps(b: Builder, radix: int) -> None:
    """List the exchange.

    A message from s to d has the distance (d - s) mod P. For every place of the distance's
    digits it moves on by what the digit says, if that is not 0. The up to ``radix - 1``
    messages that a rank sends for one place are one round: none waits for another.
    """
    every = np.arange(b.ranks)
    message = b.pieces.reshape(b.ranks, b.ranks)
    for step, distance, new_place in _moves(b.ranks, radix):
        if new_place:
            b.next_round()
            place = step
        source = (every[:, None] - distance % place) % b.ranks
        target = (source + distance) % b.ranks
        b.copy(every, (every + step) % b.ranks, message[source, target])


def build(b: Builder) -> None:
    """List the operations."""
    steps(b, RADIX)


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: all digits but 0, of all distances."""
    carried = [distance.size for _, distance, _ in _moves(ranks, RADIX)]
    return Terms(len(carried), sum(carried) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="Σₖ #{1 ≤ v ≤ 3 : v·4ᵏ < P}α + nβ/P·Σₖ #{1 ≤ j < P : digit k of j to base 4 set}",
    summary="for digit k to base 4, messages whose distance has it move on by it, together",
    paper="Bruck, Ho, Kipnis, Upfal, Weathersby 1997, section 2 (index, radix r)",
)
