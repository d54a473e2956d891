"""How large a schedule will be, told from small ones before it is built."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from collsim.algorithms import build, refusal
from collsim.core.setting import Setting
from collsim.errors import InputError, TooLargeError

__all__ = ["MOST_TRIED", "Foretold", "check_size", "foretold"]

# Ranks from which it is told; below, whatever is listed is soon too large or built.
_FORETOLD_FROM: Final = 1024
# Pieces up to which one of several algorithms is simulated just to see whether it is the
# fastest: some ten seconds, and four gigabytes.
MOST_TRIED: Final = 40_000_000
# Bytes of a schedule and its simulation, for each piece that a message carries; measured on
# rings of 1,024 to 4,096 ranks, whose messages carry one.
_EACH: Final = 64
# About as many ranks has the smaller of the two that are built.
_FEW: Final = 48


@dataclass(frozen=True)
class Foretold:
    """About how many messages a schedule has, and pieces they carry."""

    messages: float
    pieces: float

    @property
    def nbytes(self) -> float:
        """About how many bytes of memory a simulation of it takes."""
        return _EACH * max(self.messages, self.pieces)


def foretold(
    collective: str, name: str, setting: Setting, channels: int = 1
) -> Foretold | None:
    """Return about how large a schedule in one chunk is, or None where small ones don't tell.

    Two small ones on nodes of the same kind are built. By what power of the number of nodes
    messages and pieces grow between them, by that they are taken to grow on.

    Examples
    --------
    Everybody sends to everybody:

    >>> large = Setting(65_536, np.arange(65_536) // 8)
    >>> found = foretold("all_gather", "direct", large)
    >>> 0.9 < found.messages / (65_536 * 65_535) < 1.1
    True
    """
    if not setting.even:
        return None
    gpus = setting.fewest if setting.nodes > 1 else 1
    whole = setting.ranks // gpus
    first = max(2, 1 << math.ceil(math.log2(_FEW / gpus)) if gpus < _FEW else 2)
    if whole < 4 * first:
        return None
    found = []
    for nodes in (first, 2 * first):
        ranks = nodes * gpus
        node = np.arange(ranks) // gpus if setting.nodes > 1 else None
        if refusal(collective, name, ranks, node, setting.multicast) is not None:
            return None
        try:
            schedule = build(
                collective, name, ranks, node=node, channels=channels,
                multicast=setting.multicast,
            )  # fmt: skip
        except InputError:
            return None
        found.append((max(1, len(schedule)), max(1, schedule.piece.size)))
    (messages, pieces), (more, further) = found
    steps = math.log2(whole / (2 * first))
    return Foretold(more * (more / messages) ** steps, further * (further / pieces) ** steps)


def check_size(
    collective: str,
    name: str,
    setting: Setting,
    channels: int,
    most: int,
) -> None:
    """Refuse a schedule that will be too large, before any of it is built.

    Raises
    ------
    TooLargeError
        If it is told to carry more pieces than `most`.
    """
    if setting.ranks < _FORETOLD_FROM:
        return
    size = foretold(collective, name, setting, channels)
    if size is not None and size.pieces > most:
        raise TooLargeError(
            f"{collective}/{name} on {setting.ranks:,} ranks sends about {size.messages:.1g} "
            f"messages of {size.pieces:.1g} pieces in all, some {size.nbytes / 2**30:,.0f} GiB "
            f"of memory; expected at most {most:,} pieces"
        )
