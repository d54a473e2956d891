"""Where times jump as if NCCL changed its protocol at the wrong size."""

from collections.abc import Sequence
from typing import Final

from collsim.calibrate.check.suggest._rows import Size
from collsim.units import format_size

__all__ = ["of_changes"]

_JUMP: Final = 1.25
_RISING: Final = 1.05
_LOOKED_AT: Final = 3
_AFTER: Final = 2


def of_changes(sizes: Sequence[Size], tolerance: float) -> list[str]:
    """Return what jumps of measured / predicted say.

    Three sizes on the one side must grow worse, or better, step by step, two of them past the
    tolerance, and those on the other side be as predicted: one slow row is no such change.

    Examples
    --------
    >>> ratios = (1.0, 1.0, 1.2, 1.5, 2.0, 1.0, 1.0, 1.0)
    >>> sizes = [Size(2**k, r * 2**k, 2.0**k) for k, r in enumerate(ratios, 20)]
    >>> of_changes(sizes, 0.2)
    ['up to 16MiB times grow to 2 times the prediction, and at 32MiB they are back: as if the
    protocol, or the algorithm, changed late']
    """
    found = []
    for i in range(_LOOKED_AT, len(sizes)):
        before, after = sizes[i - _LOOKED_AT : i], sizes[i : i + _LOOKED_AT]
        jump = after[0].ratio / before[-1].ratio
        size = format_size(sizes[i].nbytes)
        if 1 / jump >= _JUMP and _late(before, after, tolerance):
            found.append(
                f"up to {format_size(before[-1].nbytes)} times grow to "
                f"{before[-1].ratio:.3g} times the prediction, and at {size} they are back: as "
                "if the protocol, or the algorithm, changed late"
            )
        elif jump >= _JUMP and _early(before, after, tolerance):
            found.append(
                f"at {size} times jump to {after[0].ratio:.3g} times the prediction, and come "
                "back as sizes grow: as if the protocol, or the algorithm, changed early"
            )
    return found


def _late(before: Sequence[Size], after: Sequence[Size], tolerance: float) -> bool:
    """Whether times grew worse step by step until they were good again at once."""
    a, b, c = (one.ratio for one in before)
    grew = b > _RISING * a and c > _RISING * b and b > 1 + tolerance
    return grew and len(after) >= _AFTER and all(one.ratio <= 1 + tolerance for one in after)


def _early(before: Sequence[Size], after: Sequence[Size], tolerance: float) -> bool:
    """Whether times were good, jumped, and grew better step by step."""
    if len(after) < _LOOKED_AT:
        return False
    a, b, c = (one.ratio for one in after)
    shrank = a > _RISING * b and b > _RISING * c and b > 1 + tolerance
    return shrank and all(one.ratio <= 1 + tolerance for one in before)
