"""Choose the algorithm for every size: the lower envelope of all of them, as a table."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from collsim.choose.candidates import Candidate, Lines
from collsim.choose.contest import Contest
from collsim.choose.curve import TIE, Counts, Model, tie_of
from collsim.choose.curves import curves, tried
from collsim.choose.envelope import Envelope
from collsim.choose.folding import folded_of
from collsim.choose.lines import Stretch
from collsim.choose.ranges import Policy, Range
from collsim.choose.sampled import Sampled
from collsim.choose.seen import Seen
from collsim.choose.specs import spec_list
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.engine.bound import Bound, bound
from collsim.engine.simulation import load
from collsim.errors import InputError
from collsim.units import MAX_SIZE, parse_size

__all__ = ["Policy", "Range", "choose"]

# Fair shares take a turn wherever two flows swap their ends, which in many chunks is at
# thousands of sizes; times there are told to about this, relative.
_FAIR_NOISE: Final = 1e-5
# Ratios of sizes, less 1, below which a stretch has one swap at most.
_SHORTEST: Final = 1e-4
_FAIR_SHORTEST: Final = 1e-3
# Ranks from which runs are so many or so long that the compiled loops are worth loading.
_MANY: Final = 12
# At how many sizes in each doubling the answer is compared with everybody.
# Fair shares take long to run, and jump less.
_PER_DOUBLING: Final = 4
_FAIR_PER_DOUBLING: Final = 1
# By what factor slower counts as slower for the reader.
_WORTH_SAYING: Final = 1.01


@checked
def choose(
    collective_name: str,
    cluster: Cluster,
    *,
    min_bytes: int | str = 8,
    max_bytes: int | str = 8 * 2**30,
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    algorithms: Sequence[str] | str | None = None,
    model: Model = "auto",
    fold: bool = True,
) -> Policy:
    """Choose the fastest algorithm at every size of a range.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    cluster : Cluster
        Where it runs.
    min_bytes, max_bytes : int or str
        The sizes, both inclusive, in bytes or as text such as ``"64MiB"``.
    root, chunks, channels, model, fold
        As in :func:`collsim.predict`; `chunks` and `channels` go to those that take them.
    algorithms : sequence of str, or str with commas, optional
        Only these are chosen among, each with all its options unless some are named;
        ``"nccl"`` is those that NCCL has.

    Returns
    -------
    Policy
        Ranges of sizes, each with its algorithm.

    Raises
    ------
    InputError
        If the range is empty, or no algorithm applies.

    Notes
    -----
    Every algorithm, in every number of chunks, has a lower bound on this cluster: its
    longest path, and the busiest link. It is simulated only where that is below what was
    found before.

    Examples
    --------
    3 (alpha + n beta) = 6 alpha + 7/4 n beta at n = 12/5 alpha/beta:

    >>> import collsim
    >>> cluster = collsim.Cluster.ideal(8, "10us", "1.0001GB/s")
    >>> policy = collsim.choose("all_reduce", cluster)
    >>> [(row.min_bytes, row.max_bytes, row.algorithm) for row in policy.rows]
    [(8, 24002, 'recursive_doubling'), (24003, 8589934592, 'halving_doubling')]
    >>> policy
    <Policy all_reduce on 8 ranks of ideal, 8B to 8GiB: 2 ranges>
    """
    low, high = _whole("min_bytes", min_bytes), _whole("max_bytes", max_bytes)
    if low > high:
        raise InputError(
            f"sizes: got {low} to {high} bytes, expected a range that is not empty"
        )
    if collective_name == "all":
        raise InputError(
            "collective: got 'all', expected one; all of them are "
            "{name: collsim.choose(name, cluster) for name in collsim.COLLECTIVES}"
        )
    kind = collective(collective_name)
    only = spec_list(algorithms)
    found, left_out = curves(
        kind.name, cluster, root=root, chunks=chunks, channels=channels, model=model,
        only=only, fold=fold,
    )  # fmt: skip
    if cluster.uniform is None and cluster.ranks >= _MANY:
        load(cluster.sharing == "fair")
    candidates = _possible([Candidate(curve, i) for i, curve in enumerate(found)], left_out)
    if not candidates:
        raise InputError(f"{kind.name}: no algorithm applies; {'; '.join(left_out.values())}")
    seen = {v.owner: Seen(v) for candidate in candidates for v in candidate.variants}
    contest = Contest(
        seen,
        all(candidate.formula for candidate in candidates),
        *((_FAIR_NOISE, _FAIR_SHORTEST) if cluster.sharing == "fair" else (TIE, _SHORTEST)),
        tie_of(cluster),
    )
    stretches = contest.run(low, high)
    if not contest.formula:
        fair = cluster.sharing == "fair"
        sampled = Sampled(candidates, contest.noise, _FAIR_SHORTEST if fair else 0.0)
        stretches = sampled.correct(stretches, _FAIR_PER_DOUBLING if fair else _PER_DOUBLING)
    slow: dict[str, float] = {}
    for candidate in candidates:
        if any(s.sizes for s in seen.values() if s.variant.candidate is candidate):
            continue
        name, times = candidate.name, _times_above(candidate, Envelope(low, high, stretches))
        left_out[name] = "never faster than what was found, by its lower bound"
        if times >= _WORTH_SAYING:
            slow[name] = times
            left_out[name] = (
                f"too slow at every size: at least {times:.3g} times as long as the fastest"
            )
    limit = bound(kind, cluster)
    named = {candidate.name: candidate for candidate in candidates}
    rows = [_row(span, named, limit) for span in _ranges(stretches, seen)]
    return Policy(
        cluster.name, kind.name, cluster.ranks, low, high, tuple(rows), left_out,
        *tried(found), folded=folded_of(found), slow=slow,
    )  # fmt: skip


def _possible(candidates: list[Candidate], left_out: dict[str, str]) -> list[Candidate]:
    """Return those that can be simulated at all."""
    for candidate in candidates:
        left_out |= candidate.drop_too_large()
    return [candidate for candidate in candidates if candidate.variants]


def _times_above(candidate: Candidate, envelope: Envelope) -> float:
    """Return how many times as long as the fastest one takes at least, at any size."""
    for least in (next, _last):
        above = min(envelope.times_above(least(v.bounds())) for v in candidate.variants)
        if above >= _WORTH_SAYING:
            break
    return above


def _last(bounds: Iterator[Lines]) -> Lines:
    return list(bounds)[-1]


def _whole(what: str, given: Any) -> int:
    size = parse_size(given) if isinstance(given, str) else given
    if isinstance(size, bool) or not isinstance(size, int | float) or size != size // 1:
        raise InputError(f"{what}: got {given!r}, expected whole bytes")
    if not 0 <= size <= MAX_SIZE:
        raise InputError(f"{what}: got {given!r}, expected 0 to {MAX_SIZE}")
    return int(size)


def _ranges(stretches: list[Stretch], seen: dict[int, Seen]) -> Iterator[tuple[int, int, str]]:
    """Yield the sizes of neighbours of one algorithm together, and its name."""
    for name, group in groupby(stretches, key=lambda part: seen[part.owner].variant.name):
        parts = tuple(group)
        yield parts[0].low, parts[-1].high, name


def _row(span: tuple[int, int, str], candidates: dict[str, Candidate], limit: Bound) -> Range:
    low, high, name = span
    middle = min(high, max(low, math.isqrt(max(1, low) * high)))
    winner = candidates[name]
    best, time = winner.fastest(middle)
    runner_up, seconds = _next_best([c for c in candidates.values() if c is not winner], middle)
    least = limit.seconds(middle)
    return Range(
        min_bytes=low,
        max_bytes=high,
        algorithm=name,
        protocol=None,
        chunks=best.chunks,
        chunks_from=winner.fastest(low)[0].chunks,
        chunks_to=winner.fastest(high)[0].chunks,
        channels=best.channels,
        model="formula" if winner.formula else "event",
        size=middle,
        time_us=time * 1e6,
        gain=max(1.0, seconds / time) if time > 0 and runner_up is not None else None,
        runner_up=runner_up,
        lower_bound_us=least * 1e6,
        efficiency=min(1.0, least / time) if time > 0 else None,
        confirmed=winner.confirmed(best, middle),
    )


def _next_best(others: list[Candidate], nbytes: int) -> tuple[str | None, float]:
    """Return the fastest of some algorithms at a size, with its time.

    Those of a low bound come first; the rest is never run.
    """
    name, best = None, math.inf
    for other in sorted(others, key=lambda c: c.bound(nbytes)):
        if other.bound(nbytes) > best:
            break
        seconds = other.fastest(nbytes, at_most=best)[1]
        if seconds < best * (1 - TIE):
            name, best = other.name, seconds
    return name, best
