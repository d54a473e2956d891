"""Predictions of every algorithm on clusters of rising size, for a picture of them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

from collsim.choose.curve import Counts, Model
from collsim.choose.predict import FittedTimes, Row, predict
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.engine.bound import lower_bound
from collsim.errors import InputError
from collsim.plot.style import STYLES
from collsim.units import parse_size

__all__ = ["Scaling", "scaling_curves"]

_MOST_CLUSTERS: Final = 64
# By what factor slower counts as slower for the reader.
_WORTH_SAYING: Final = 1.01
_US: Final = 1e-6  # rows have microseconds


@dataclass(frozen=True, eq=False)
class Scaling:
    """What :func:`plot_scaling` draws.

    Parameters
    ----------
    collective, cluster, shape, sharing : str
        What runs where; the shape is that of the largest cluster.
    size : float
        Bytes, n.
    by : str
        ``"nodes"`` or ``"ranks"``.
    counts : tuple of int
        Of these, rising.
    lines : dict of str to tuple of Row or None
        By algorithm, the fastest at the largest count first: its prediction at each count,
        None where it does not apply. Without options named, that of its fastest ones.
    bound_us : tuple of float
        No algorithm is faster, in microseconds.
    bus_factor : tuple of float
        Bus bandwidth over algorithm bandwidth at each count.
    left_out : dict of str
        Algorithms that are not among the lines, each with its reason.
    """

    collective: str
    cluster: str
    shape: str
    sharing: str
    size: float
    by: str
    counts: tuple[int, ...]
    lines: dict[str, tuple[Row | None, ...]]
    bound_us: tuple[float, ...]
    bus_factor: tuple[float, ...]
    left_out: dict[str, str]


@checked
def scaling_curves(
    collective_name: str,
    clusters: Iterable[Cluster],
    size: float | str,
    algorithms: Sequence[str] = ("all",),
    *,
    most: int = len(STYLES),
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    model: Model = "auto",
    fitted: FittedTimes | None = None,
) -> Scaling:
    """Predict every algorithm on each of some clusters, at one size.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    clusters : iterable of Cluster
        From the smallest to the largest, at least two.
    size : float or str
        Bytes, or text such as ``"64MiB"``.
    algorithms : sequence of str
        Names, options included; by default all.
    most : int
        Of all, only so many: those that come nearest to the fastest anywhere.
    root, chunks, channels, model, fitted
        As in :func:`collsim.predict`.

    Returns
    -------
    Scaling
        A line of predictions for each algorithm; times in microseconds.

    Raises
    ------
    InputError
        For fewer than two clusters, two of one size, more than 64, more algorithms named
        than there are styles of lines, or none that applies.

    Examples
    --------
    >>> clusters = [Cluster.ideal(p, "10us", "900GB/s") for p in (2, 4, 8)]
    >>> found = scaling_curves("broadcast", clusters, "1KiB", ["mst", "ring"])
    >>> [row and round(row.time_us) for row in found.lines["mst"]]
    [10, 20, 30]
    """
    several = tuple(islice(clusters, _MOST_CLUSTERS + 1))
    by = "nodes" if any(cluster.nodes > 1 for cluster in several) else "ranks"
    counts = tuple(c.nodes if by == "nodes" else c.ranks for c in several)
    if not 1 < len(several) <= _MOST_CLUSTERS or any(a >= b for a, b in pairwise(counts)):
        raise InputError(
            f"scaling: got {by} {', '.join(map(str, counts[:8])) or 'none'}"
            f"{' ...' * (len(counts) > 8)}, expected 2 to {_MOST_CLUSTERS} rising numbers"
        )
    kind = collective(collective_name)
    nbytes = parse_size(size) if isinstance(size, str) else size
    named = tuple(algorithms) != ("all",)
    if named and len(algorithms) > len(STYLES):
        raise InputError(
            f"scaling: got {len(algorithms)} algorithms, expected at most {len(STYLES)}"
        )
    found: dict[str, dict[int, Row]] = {}
    why: dict[str, str] = {}
    for i, cluster in enumerate(several):
        for asked in algorithms:
            try:
                answer = predict(
                    kind.name, cluster, nbytes, asked, root=root, chunks=chunks,
                    channels=channels, model=model, fitted=fitted,
                )  # fmt: skip
            except InputError as error:
                if not named:
                    raise
                why[asked] = str(error)
                continue
            why |= answer.left_out
            for row in answer.rows:
                name = asked if named else row.algorithm.partition(":")[0]
                best = found.setdefault(name, {}).get(i)
                if best is None or row.time_us < best.time_us:
                    found[name][i] = row
    if not found:
        raise InputError("; ".join(why.values()) or "algorithms: none given, expected one")
    lines, slow = _nearest(found, len(several), len(STYLES) if named else most)
    last = several[-1]
    return Scaling(
        kind.name, last.name, last.shape, last.sharing, nbytes, by, counts, lines,
        tuple(lower_bound(kind, c, nbytes) / _US for c in several),
        tuple(kind.bus_factor(c.ranks) for c in several),
        {name: reason for name, reason in why.items() if name not in found} | slow,
    )  # fmt: skip


def _nearest(
    found: dict[str, dict[int, Row]], counts: int, most: int
) -> tuple[dict[str, tuple[Row | None, ...]], dict[str, str]]:
    """Return the algorithms that come nearest to the fastest anywhere, and the rest."""
    least = [
        min((rows[i].time_us for rows in found.values() if i in rows), default=0.0)
        for i in range(counts)
    ]

    def times(name: str) -> float:
        rows = found[name].items()
        # What takes no time, as on one rank, tells nothing.
        return min((row.time_us / least[i] for i, row in rows if least[i] > 0), default=1.0)

    def last(name: str) -> tuple[float, str]:
        row = found[name].get(counts - 1)
        return (row.time_us if row else math.inf), name

    ranked = sorted(found, key=lambda name: (times(name), *last(name)))
    kept = sorted(ranked[:most], key=last)
    slow = {
        name: f"at least {times(name):.3g} times as long as the fastest"
        if times(name) >= _WORTH_SAYING
        else f"as fast as the fastest somewhere, but there are {most} others"
        for name in ranked[most:]
    }
    return {name: tuple(found[name].get(i) for i in range(counts)) for name in kept}, slow
