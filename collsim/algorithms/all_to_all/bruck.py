"""Log-round exchange with digits to any base: fewer bytes than `mst`, some more messages."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.option import Option, whole_from
from collsim.core.setting import Setting
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM"]

# Base 2 is `mst`, base P is `direct`; 4 sends three quarters as many digits as there are bits.
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
    every = b.every
    message = b.pieces.reshape(b.ranks, b.ranks)
    for step, distance, new_place in _moves(b.ranks, radix):
        if new_place:
            b.next_round()
            place = step
        source = (every[:, None] - distance % place) % b.ranks
        target = (source + distance) % b.ranks
        b.copy(every, (every + step) % b.ranks, message[source, target])


def bases(setting: Setting) -> tuple[int, ...]:
    """Return the bases worth a try: 3, 8, and the least that takes two rounds.

    Of a base in between, another one sends no more messages, or hardly more bytes.
    """
    two_rounds = math.isqrt(setting.ranks - 1) + 1
    return tuple(radix for radix in sorted({3, 8, two_rounds}) if 2 < radix < setting.ranks)


def _of_radix(radix: int) -> Algorithm:
    """Return the exchange to one base."""

    def build(b: Builder) -> None:
        steps(b, radix)

    def terms(ranks: int, chunks: int) -> Terms:
        # All digits but 0, of all distances.
        carried = [distance.size for _, distance, _ in _moves(ranks, radix)]
        return Terms(len(carried), sum(carried) / ranks)

    return Algorithm(
        build=build,
        terms=terms,
        formula="Σₖ #{1 ≤ v < r : v·rᵏ < P}α + nβ/P·Σₖ #{1 ≤ j < P : digit k of j set}",
        summary="messages move on by digit k of their distance to base r (default 4), at once",
        paper="Bruck, Ho, Kipnis, Upfal, Weathersby 1997, section 2 (index, radix r)",
        options={
            "radix": Option(RADIX, "base r of the digits, from 2 up", whole_from(2), bases)
        },
        vary=lambda values: _of_radix(int(values["radix"])),
        symmetry=Symmetry("shift"),
    )


ALGORITHM = _of_radix(RADIX)
