"""Where times are those of another algorithm than was predicted."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from collsim.calibrate.check.suggest._rows import Size
from collsim.units import format_size

__all__ = ["of_others"]

_SEVERAL: Final = 3
_MOST: Final = 0.75
_BETTER: Final = 0.5
_FORCED: Final = {
    "ring": "Ring", "double_binary_tree": "Tree", "nvls": "NVLS", "nvls_tree": "NVLSTree",
    "pat": "PAT",
}  # fmt: skip


def of_others(
    sizes: Sequence[Size],
    others: Mapping[str, Sequence[float]],
    tolerance: float,
    switched: bool = False,
) -> list[str]:
    """Return which algorithms would take what was measured, where the predicted one doesn't.

    From some size on all times must be its own, within the tolerance, three at least and most
    of them past the tolerance as predicted, and be off by less than half as much.

    Parameters
    ----------
    sizes : sequence of Size
        Ascending.
    others : mapping of str to sequence of float
        Seconds of each size, by the algorithm.
    tolerance : float
        By which rows are judged.
    switched : bool
        Whether NCCL may add up in switches there, as is predicted by default.

    Examples
    --------
    >>> sizes = [Size(2**k, 1.5 * 2.0**k, 2.0**k) for k in range(27, 31)]
    >>> of_others(sizes, {"ring": [1.45 * one.nbytes for one in sizes]}, 0.2)
    ['as ring would take (NCCL_ALGO=Ring): all sizes within 20% of its time; NCCL_DEBUG=INFO,
    subsystem TUNING, says what ran']
    """
    found: list[tuple[float, str, int]] = []
    for name, times in others.items():
        ratios = [one.measured / time for one, time in zip(sizes, times, strict=True)]
        off = [not 1 / (1 + tolerance) <= ratio <= 1 + tolerance for ratio in ratios]
        first = max((i + 1 for i, wrong in enumerate(off) if wrong), default=0)
        slow = [i for i in range(first, len(sizes)) if sizes[i].ratio > 1 + tolerance]
        if len(slow) < _SEVERAL or len(slow) < _MOST * (len(sizes) - slow[0]):
            continue
        here, own = (
            median(abs(math.log(ratio)) for ratio in some)
            for some in (ratios[slow[0] :], [one.ratio for one in sizes[slow[0] :]])
        )
        if here < _BETTER * own:
            found.append((here, name, slow[0]))
    if not found:
        return []
    names = [name for _, name, _ in sorted(found)]
    start = max(first for *_, first in found)
    where = "" if start == 0 else f" from {format_size(sizes[start].nbytes)} on"
    forced = " or ".join(_FORCED[name] for name in names)
    without = switched and not any(name.startswith("nvls") for name in names)
    said = (
        f"as {' or '.join(names)} would take (NCCL_ALGO={forced}"
        f"{', or NVLS off' if without else ''}): all sizes{where} within {tolerance:.0%} of "
        f"{'its time' if len(names) == 1 else 'their times'}; NCCL_DEBUG=INFO, subsystem "
        "TUNING, says what ran"
    )
    return [said]
