"""Where two algorithms swap: every size at which the faster one becomes the slower."""

import math
from dataclasses import dataclass, field
from typing import Final

from collsim.algorithms import find
from collsim.choose.curve import Counts, Curve, Model
from collsim.choose.fitted import FittedCurve, FittedTimes, Pieces
from collsim.choose.folding import folded_of
from collsim.choose.search import Jump, Search
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import Collective, collective
from collsim.engine.simulation import check_nbytes
from collsim.errors import InputError
from collsim.units import parse_size

__all__ = ["Crossover", "Jump", "Swap", "crossover", "rivals"]

_SMALLEST: Final = 1.0
_LARGEST: Final = float(2**40)
_PER_DOUBLING: Final = 16


@dataclass(frozen=True)
class Swap:
    """One swap.

    Parameters
    ----------
    size : float
        Bytes, a real number.
    time_us : float
        Time of both there, in microseconds; at a jump that of the faster one above it.
    below, above : str
        Which algorithm is faster below this size, and above it.
    jump : Jump or None
        The times on both sides, where a curve jumps over the other.
    """

    size: float
    time_us: float
    below: str
    above: str
    jump: Jump | None = None


@dataclass(frozen=True)
class Crossover:
    """The answer of :func:`crossover`.

    Parameters
    ----------
    cluster, collective, ranks
        What was compared, and where.
    a, b : str
        The two algorithms.
    min_bytes, max_bytes : float
        The range that was searched.
    rows : tuple of Swap
        By size; empty if one is never slower than the other.
    identical : bool
        Whether both take the same time at every size.
    faster : str or None
        Without a swap, the one that is faster wherever they differ.
    fitted : bool
        Whether times are fitted ones of a profile, and not simulated.
    folded : dict of str
        Which of them were simulated on a few ranks in place of all, as in
        :class:`~collsim.choose.rows.Prediction`.
    """

    cluster: str
    collective: str
    ranks: int
    a: str
    b: str
    min_bytes: float
    max_bytes: float
    rows: tuple[Swap, ...]
    identical: bool
    faster: str | None
    fitted: bool = False
    folded: dict[str, str] = field(default_factory=dict)


@checked
def crossover(
    collective_name: str,
    a: str,
    b: str,
    cluster: Cluster,
    *,
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    model: Model = "auto",
    min_bytes: float | str = _SMALLEST,
    max_bytes: float | str = _LARGEST,
    fold: bool = True,
    fitted: FittedTimes | None = None,
) -> Crossover:
    """Find every size at which two algorithms swap.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    a, b : str
        Two algorithms of it.
    cluster : Cluster
        Where they run.
    root, chunks, channels, model
        As in :func:`collsim.predict`; `chunks` and `channels` go to those that take them.
    min_bytes, max_bytes : float or str
        Range of sizes, 1 byte to 1 TiB by default, in bytes or as text such as ``"64MiB"``.
    fold : bool
        As in :func:`collsim.predict`.
    fitted : FittedTimes, optional
        Fitted times of NCCL, as :func:`collsim.fitted_times` gives of a profile. They count
        with model auto, if there are some of both algorithms.

    Returns
    -------
    Crossover
        Swaps by size.

    Raises
    ------
    InputError
        If the range is empty, or an algorithm does not apply.

    Examples
    --------
    A broadcast on 8 ranks: (log P)(alpha + n beta) against (P-1)(alpha + n beta), the
    ring in one chunk, never meet; with the best chunk count they do:

    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> crossover("broadcast", "mst", "ring", cluster, chunks=1).faster
    'mst'
    >>> [round(swap.size) for swap in crossover("broadcast", "mst", "ring", cluster).rows]
    [79200000]
    """
    low, high = (parse_size(n) if isinstance(n, str) else n for n in (min_bytes, max_bytes))
    if not check_nbytes(low) < check_nbytes(high):
        raise InputError(
            f"sizes: got {low:g} to {high:g} bytes, expected a range that is not empty"
        )
    kind = collective(collective_name)
    one, other = pair = rivals(
        kind, (a, b), cluster, root=root, chunks=chunks, channels=channels, model=model,
        fold=fold, fitted=fitted,
    )  # fmt: skip
    a, b = one.name, other.name
    search = Search(one.seconds, other.seconds, steady=cluster.uniform is not None)
    by_fit = isinstance(one, FittedCurve)
    signs = search.scan(_smooth(low, high)) if by_fit else search.run(low, high)
    faster = {-1: a, 1: b}
    rows = tuple(
        Swap(size, time * 1e6, faster[sign], faster[-sign], jump)
        for size, time, sign, jump in search.swaps
    )
    return Crossover(
        cluster=cluster.name,
        collective=kind.name,
        ranks=cluster.ranks,
        a=a,
        b=b,
        min_bytes=low,
        max_bytes=high,
        rows=rows,
        identical=not signs,
        faster=faster[signs.pop()] if len(signs) == 1 else None,
        fitted=by_fit,
        folded=folded_of([curve for curve in pair if isinstance(curve, Curve)]),
    )


def rivals(
    kind: Collective,
    names: tuple[str, str],
    cluster: Cluster,
    *,
    root: int,
    chunks: Counts,
    channels: Counts,
    model: Model,
    fold: bool,
    fitted: FittedTimes | None,
) -> tuple[Curve | FittedCurve, Curve | FittedCurve]:
    """Return two algorithms' times: fitted if both have such, else both simulated."""
    pieces = [Pieces.of(fitted, kind, cluster, name) for name in names]
    theirs = [one.curve for one in pieces if one is not None and one.algorithms]
    if len(theirs) == 2 and model == "auto":
        return theirs[0], theirs[1]
    one, other = (
        Curve(
            kind.name,
            name,
            cluster,
            root=root,
            chunks=chunks if find(kind.name, name).chunked else "auto",
            channels=channels if find(kind.name, name).channeled else "auto",
            model=model,
            fold=fold,
        )
        for name in names
    )
    return one, other


def _smooth(low: float, high: float) -> list[float]:
    """Return sizes between which fitted times, which bend over doublings, swap once at most."""
    least = max(low, 1.0)
    count = math.ceil(math.log2(max(2.0, high / least)) * _PER_DOUBLING)
    inner = (least * (high / least) ** (i / count) for i in range(count))
    return sorted({low, *inner, high})
