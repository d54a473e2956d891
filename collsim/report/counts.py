"""Numbers of chunks and channels, as short as they can be said."""

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["counts_text"]

_FEW = 4


def counts_text(counts: Sequence[int]) -> str:
    """Return some rising numbers as text; powers of two and long runs are not all listed.

    Examples
    --------
    >>> counts_text((1, 2, 4, 8, 16, 32)), counts_text((1, 3, 5, 6, 7, 8)), counts_text((4,))
    ('1, 2, 4 ... 32', '1, 3, 5-8', '4')
    """
    if len(counts) > _FEW and all(b == 2 * a for a, b in pairwise(counts)):
        return f"{', '.join(map(str, counts[:3]))} ... {counts[-1]}"
    runs: list[list[int]] = []
    for n in counts:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    parts = [f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in runs]
    return ", ".join(parts)
