"""The same advice as variables of the environment, as far as these can express it.

``NCCL_ALGO=func:list;func:list`` allows some algorithms of a collective, at all sizes; among
these NCCL goes on to choose by its model. Source: NCCL 2.30.7, src/graph/tuning.cc, 36-54.
"""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from collsim.calibrate.nccl_model import Fitted
from collsim.choose.curve import Curve, Model
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.interop.nccl_tuner.fitted import FittedCurve
from collsim.interop.nccl_tuner.names import FUNCTIONS, OUR_NAME, available, spelled
from collsim.interop.nccl_tuner.ranges import Own, at
from collsim.nccl import Tuning

__all__ = ["Setting", "allowed", "to_env"]

# Advice that gains less over all sizes, on the geometric mean, is not given.
_LEAST: Final = 1e-6


@dataclass(frozen=True)
class Setting:
    """Algorithms that are best allowed for a collective, if one has to hold for all sizes.

    Parameters
    ----------
    collective : str
        Our name.
    algorithms : tuple of str
        NCCL's names; empty where it is best left alone.
    gain : float
        Its time without / with that, geometric mean over doublings of the size.
    left : float
        The same of its time with that / the fastest of what it has at every size.
    other : tuple of str
        Where it is best left alone: what comes nearest; empty if nothing
        else changes what it chooses.
    other_gain : float
        As `gain`, of that.
    worst, worst_size : float and int
        With that, the largest time / time without, and the size.
    """

    collective: str
    algorithms: tuple[str, ...]
    gain: float
    left: float
    other: tuple[str, ...] = ()
    other_gain: float = 1.0
    worst: float = 1.0
    worst_size: int = 0


def allowed(
    collective_name: str,
    cluster: Cluster,
    table: Tuning,
    *,
    min_bytes: int = 8,
    max_bytes: int = 2**33,
    min_gain: float = 0.0,
    bytes_only: bool = False,
    fitted: Fitted | None = None,
    root: int = 0,
    model: Model = "auto",
) -> Setting:
    """Return the algorithms that NCCL had best be allowed, whatever the size.

    Parameters
    ----------
    collective_name, cluster, table, min_bytes, max_bytes, min_gain, bytes_only, root, model
        As for :func:`collsim.interop.nccl_tuner.against.against`.
    fitted : Fitted, optional
        Fitted times, instead of simulated ones; they have their latencies, so that
        `bytes_only` is of no account.

    Examples
    --------
    >>> from collsim.nccl import communicator, tuning
    >>> cluster = Cluster.load("dgx-a100")
    >>> allowed("broadcast", cluster, tuning(communicator(cluster))).algorithms
    ()
    """
    name = collective(collective_name).name
    theirs = [a for a in available(table, name) if a in OUR_NAME]
    simulated: dict[str, Curve] = {}
    curves: Mapping[str, Curve | FittedCurve]
    if fitted is None:
        curves = simulated = {
            a: Curve(name, OUR_NAME[a], cluster, root=root, model=model) for a in theirs
        }
    else:
        where = table.comm.ranks, table.comm.nodes
        curves = {a: FittedCurve(fitted, name, *where, a) for a in theirs}
        bytes_only = False
    own = Own(table, name)
    steps = max(1, math.ceil(math.log2(max(1, max_bytes) / max(1, min_bytes))))
    start = max(1, min_bytes)
    sizes = [
        round(start * (max(1, max_bytes) / start) ** (i / steps)) for i in range(steps + 1)
    ]
    # Where NCCL would choose what is not simulated here, all settings are taken to be alike.
    sizes = [n for n in sizes if at(own.choice, n).algorithm in curves]
    extra = own.latency if bytes_only else _nothing
    logs = {a: [_log(c.seconds(n) + extra(a, n)) for n in sizes] for a, c in curves.items()}

    def mean(algorithms: Sequence[str]) -> float:
        ranges = own.choice if len(algorithms) == len(theirs) else own.among(algorithms)
        times = [logs[at(ranges, n).algorithm][i] for i, n in enumerate(sizes)]
        return sum(times) / max(1, len(times))

    best = sum(min(logs[a][i] for a in theirs) for i in range(len(sizes))) / max(1, len(sizes))
    # Switches can't reduce every type; a call without any algorithm fails.
    subsets = [
        subset
        for k in range(len(theirs), 0, -1)
        for subset in combinations(theirs, k)
        if not all(a.startswith("nvls") for a in subset) or k == len(theirs)
    ]
    means = [mean(s) for s in subsets]
    others = [i for i, m in enumerate(means) if abs(m - means[0]) > _LEAST]
    if bytes_only:
        now = [simulated[at(own.choice, n).algorithm].bytes_floor(n) for n in sizes]
        means[0] = sum(map(_log, now)) / max(1, len(now))
    least = min(range(len(subsets)), key=lambda i: (means[i], i))
    gain = math.exp(means[0] - means[least])
    chosen = least if gain >= 1 + max(_LEAST, min_gain) else 0
    found = Setting(
        name,
        subsets[chosen] if chosen else (),
        math.exp(means[0] - means[chosen]),
        math.exp(means[chosen] - best),
    )
    if chosen or not others:
        return found
    nearest = min(others, key=lambda i: (means[i], i))
    gain, worst, size = _beside(own, subsets[nearest], curves, sizes)
    return replace(found, other=subsets[nearest], other_gain=gain, worst=worst, worst_size=size)


def _beside(
    own: Own,
    algorithms: Sequence[str],
    curves: Mapping[str, Curve | FittedCurve],
    sizes: Sequence[int],
) -> tuple[float, float, int]:
    """Return what a setting gains over NCCL's own choice, and its worst ratio and where."""
    ranges = own.among(algorithms)
    worst, where, total = 1.0, 0, 0.0
    for n in sizes:
        before = curves[at(own.choice, n).algorithm].seconds(n)
        after = curves[at(ranges, n).algorithm].seconds(n)
        total += _log(before) - _log(after)
        if after > worst * before:
            worst, where = after / before if before else 1.0, n
    return math.exp(total / max(1, len(sizes))), worst, where


def _nothing(_algorithm: str, _nbytes: int) -> float:
    return 0.0


def _log(seconds: float) -> float:
    return math.log(max(seconds, 1e-300))


def to_env(settings: Sequence[Setting]) -> str:
    """Return lines for a shell; a comment where nothing is to be set.

    Examples
    --------
    >>> print(to_env([Setting("all_reduce", ("tree", "ring"), 1.2, 1.01)]), end="")
    NCCL_ALGO=allreduce:tree,ring
    >>> print(to_env([Setting("all_reduce", (), 1.0, 1.01)]), end="")
    # NCCL_ALGO is best left unset
    """
    parts = [
        f"{FUNCTIONS[s.collective]}:{','.join(map(spelled, s.algorithms))}"
        for s in settings
        if s.algorithms
    ]
    if not parts:
        return "# NCCL_ALGO is best left unset\n"
    return f"NCCL_ALGO={shlex.quote(';'.join(parts))}\n"
