"""What NCCL chooses at a size, and over a range of sizes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from collsim.core.arguments import checked

__all__ = ["Choice", "ChoiceRange", "smoothed"]

# A 32-bit time is exact to 2**-24; a range this much narrower than its size is rounding.
_NARROW: Final = 2.0**-16


@checked
@dataclass(frozen=True)
class Choice:
    """What NCCL runs at one size.

    Parameters
    ----------
    algorithm, protocol : str
        In the words of the tuner's CSV.
    channels : int
        Channels that it may use at this size (nMaxChannels).
    time_us : float
        What its model says it takes.

    Examples
    --------
    >>> Choice("ring", "ll", channels=2, time_us=12.5).protocol
    'll'
    """

    algorithm: str
    protocol: str
    channels: int
    time_us: float


@checked
@dataclass(frozen=True)
class ChoiceRange:
    """Sizes, ends included, at which NCCL's choice is the same.

    Parameters
    ----------
    min_bytes, max_bytes : int
        First and last size.
    algorithm, protocol : str
        In the words of the tuner's CSV.
    channels : int
        Channels that it may use there.

    Examples
    --------
    >>> ChoiceRange(8, 4096, "tree", "ll", channels=2).max_bytes
    4096
    """

    min_bytes: int
    max_bytes: int
    algorithm: str
    protocol: str
    channels: int


@checked
def smoothed(ranges: Iterable[ChoiceRange]) -> tuple[ChoiceRange, ...]:
    """Return ranges without those that only rounding makes.

    Near a size where two choices take the same time, NCCL's 32-bit floats let them change
    places every few bytes, at times that differ in the last digits.

    Parameters
    ----------
    ranges : iterable of ChoiceRange
        Exact ones, in order.

    Returns
    -------
    tuple of ChoiceRange
        Over the same sizes; a range narrower than 2**-16 of its size went to the one before.

    Examples
    --------
    >>> exact = (
    ...     ChoiceRange(1, 2419362, "ring", "ll128", 8),
    ...     ChoiceRange(2419363, 2419363, "ring", "simple", 8),
    ...     ChoiceRange(2419364, 2419365, "ring", "ll128", 8),
    ...     ChoiceRange(2419366, 2**30, "ring", "simple", 8),
    ... )
    >>> [(r.min_bytes, r.protocol) for r in smoothed(exact)]
    [(1, 'll128'), (2419366, 'simple')]
    """
    out: list[ChoiceRange] = []
    for one in ranges:
        narrow = one.max_bytes - one.min_bytes + 1 < _NARROW * one.min_bytes
        same = out and _what(out[-1]) == _what(one)
        if out and (narrow or same):
            out[-1] = replace(out[-1], max_bytes=one.max_bytes)
        else:
            out.append(one)
    return tuple(out)


def _what(one: ChoiceRange) -> tuple[str, str, int]:
    return one.algorithm, one.protocol, one.channels
