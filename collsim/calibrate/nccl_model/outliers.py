"""Which rows stand out, by a rule on the data alone, fixed before anything is fitted.

A row stands out if it takes more than 1.3 times as long as both its neighbours in size of the
same collective, ranks and nodes; the first also if it takes more than 1.3 times the second, as
a first call does that still sets something up. They stay in the fit, whose loss is robust:
only errors are told with and without them.
"""

from collections.abc import Sequence
from typing import Final

from collsim.core.measurements import Measurement

__all__ = ["outliers"]

_OUT: Final = 1.3


def outliers(rows: Sequence[Measurement]) -> list[bool]:
    """Return of every row whether it stands out.

    Examples
    --------
    >>> times = [9e-6, 9e-6, 20e-6, 10e-6, 11e-6]
    >>> outliers([Measurement("all_reduce", 8, 2**k, t) for k, t in enumerate(times)])
    [False, False, True, False, False]
    """
    found = [False] * len(rows)
    series: dict[tuple[object, ...], list[int]] = {}
    for i, row in enumerate(rows):
        key = row.collective, row.ranks, row.nodes, row.algorithm, row.protocol, row.in_place
        series.setdefault(key, []).append(i)
    for places in series.values():
        places.sort(key=lambda i: rows[i].nbytes)
        times = [rows[i].seconds for i in places]
        for j, i in enumerate(places):
            near = times[max(0, j - 1) : j] + times[j + 1 : j + 2]
            least = _OUT * max(near, default=times[j])
            found[i] = (len(near) == 2 or j == 0) and times[j] > least
    return found
