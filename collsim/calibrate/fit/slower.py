"""What rows say of links that only more ranks cross, as those of a PCIe tree, in words."""

from collections.abc import Sequence
from typing import Final

from collsim.core.collective import collective
from collsim.core.measurements import Measurement
from collsim.units import format_bandwidth, format_size

__all__ = ["SLOWER", "slower_notes"]

SLOWER: Final = "more ranks span slower links: "
"""How such a note of a profile begins."""
_HALF: Final = 0.5
_LARGE: Final = 2**26


def slower_notes(rows: Sequence[Measurement]) -> list[str]:
    """Return how much less bus bandwidth more ranks of one node reached, if less than half.

    It is told of all_reduce, or else of the first collective by the alphabet, at the largest
    size of 64 MiB or more that all its rank counts have.

    Parameters
    ----------
    rows : sequence of Measurement
        That were fitted.

    Examples
    --------
    >>> times = {2: 3.36e-3, 8: 55.4e-3}
    >>> rows = [Measurement("all_reduce", p, 2**26, t, nodes=1) for p, t in times.items()]
    >>> slower_notes(rows)
    ['more ranks span slower links: all_reduce of 64MiB was measured at 20GB/s of bus
    bandwidth on 2 ranks, 2.12GB/s on 8']
    """
    inside = [row for row in rows if (row.nodes or 1) == 1 and row.ranks > 1]
    kinds = sorted({row.collective for row in inside}, key=lambda k: (k != "all_reduce", k))
    if not kinds:
        return []
    some = [row for row in inside if row.collective == kinds[0]]
    counts = sorted({row.ranks for row in some})
    best: dict[int, dict[int, float]] = {}
    for row in some:
        bus = row.nbytes * collective(kinds[0]).bus_factor(row.ranks) / row.seconds
        at = best.setdefault(row.nbytes, {})
        at[row.ranks] = max(bus, at.get(row.ranks, 0.0))
    sizes = [n for n, at in best.items() if n >= _LARGE and len(at) == len(counts)]
    if not sizes or best[max(sizes)][counts[-1]] >= _HALF * best[max(sizes)][counts[0]]:
        return []
    rates = [format_bandwidth(float(f"{best[max(sizes)][count]:.3g}")) for count in counts]
    more = "".join(f", {r} on {count}" for r, count in zip(rates[1:], counts[1:], strict=True))
    what = f"{kinds[0]} of {format_size(max(sizes))} was measured at {rates[0]}"
    return [f"{SLOWER}{what} of bus bandwidth on {counts[0]} ranks{more}"]
