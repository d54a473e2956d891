"""What a shortfall looks like: the usual causes, each only where the numbers say so."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Final

from collsim.calibrate.check.suggest._rows import Compared, by_size
from collsim.calibrate.check.suggest.change import of_changes
from collsim.calibrate.check.suggest.network import Network, network_of, of_network
from collsim.calibrate.check.suggest.other import of_others
from collsim.units import format_time

__all__ = ["Compared", "Network", "network_of", "suggestions"]

_SEVERAL: Final = 3
_ALIKE: Final = 0.25
_MOST: Final = 0.75
_ONE_PROCESS: Final = "one process"


def suggestions(
    rows: Sequence[Compared],
    tolerance: float,
    network: Network | None = None,
    process_model: str | None = None,
    others: Mapping[str, Sequence[float]] | None = None,
    switched: bool = False,
) -> list[str]:
    """Say what the shortfall of one collective on some ranks looks like.

    Parameters
    ----------
    rows : sequence of CheckRow
        Of one collective, ranks, nodes and file, ascending in size.
    tolerance : float
        What they were judged by.
    network : Network, optional
        Cards of a node, where the cluster tells.
    process_model : str, optional
        As the log tells it.
    others : mapping of str to sequence of float, optional
        Seconds that algorithms of NCCL would take, of each row, where none is named.
    switched : bool
        Whether NCCL may add up in switches there.

    Examples
    --------
    >>> from types import SimpleNamespace as Row
    >>> rows = [Row(collective="all_gather", ranks=16, nodes=2, size=2**k, verdict="bandwidth",
    ...             measured_us=2**k / 1e5, predicted_us=2**k / 4e5, algorithm=None)
    ...         for k in (28, 29, 30)]
    >>> suggestions(rows, 0.2, Network(8, 50e9))
    ['as if 2 of 8 NICs were used by a ring: at 1GiB 93.7GB/s of 400GB/s leave a node']
    """
    if not rows:
        return []
    sizes = by_size(rows)
    found = of_others(sizes, _by_size(rows, others or {}), tolerance, switched)
    if network is not None and (rows[-1].nodes or 1) > 1:
        seen = of_network(rows[-1], sizes, tolerance, network)
        found += [
            f"or {words}" if found and words.startswith("as if") else words for words in seen
        ]
    found += of_changes(sizes, tolerance)
    found += _of_latency(rows, process_model)
    return found


def _by_size(
    rows: Sequence[Compared], others: Mapping[str, Sequence[float]]
) -> dict[str, list[float]]:
    """Return the median time of each size, as `by_size` has them."""
    found = {}
    for name, times in others.items():
        timed = [(row.size, time) for row, time in zip(rows, times, strict=True)]
        groups = groupby(timed, lambda pair: pair[0])
        found[name] = [median(time for _, time in some) for _, some in groups]
    return found


def _of_latency(rows: Sequence[Compared], process_model: str | None) -> list[str]:
    """Return what an excess says that is the same at most small sizes."""
    late = [row for row in rows if row.verdict == "latency"]
    if len({row.size for row in late}) < _SEVERAL:
        return []
    small = [row for row in rows if row.size <= late[-1].size]
    if len(late) < _MOST * len(small):
        return []
    over = [(row.measured_us - row.predicted_us) * 1e-6 for row in late]
    middle = median(over)
    alike = sum(abs(one - middle) <= _ALIKE * middle for one in over)
    if alike < _MOST * len(over):
        return []
    said = f"as if every call started {format_time(float(f'{middle:.3g}'))} late"
    if process_model == _ONE_PROCESS:
        said += "; the log is of one process for all GPUs, which launches on them in turn"
    return [said]
