"""Choose the algorithm for every size: the lower envelope of all of them, as a table."""

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final, Literal

from collsim.choose.candidates import Candidate, Variant
from collsim.choose.curve import TIE, Model
from collsim.choose.envelope import Envelope
from collsim.choose.lines import Stretch, trace
from collsim.choose.predict import curves
from collsim.choose.ranges import Policy, Range
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.engine.bound import Bound, bound
from collsim.errors import InputError, TooLargeError
from collsim.units import parse_size

__all__ = ["FAIR_NOISE", "Policy", "Range", "choose"]

# Fair shares take a turn wherever two flows swap their ends, which in many chunks is at
# thousands of sizes; times there are told to about this, relative.
FAIR_NOISE: Final = 1e-4


def choose(
    collective_name: str,
    cluster: Cluster,
    *,
    min_bytes: int | str = 8,
    max_bytes: int | str = 8 * 2**30,
    root: int = 0,
    chunks: int | Literal["auto"] = "auto",
    model: Model = "auto",
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
    root, chunks, model
        As in :func:`collsim.predict`; `chunks` goes to those that take them.

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

    >>> policy = choose("all_reduce", Cluster.ideal(8, "10us", "1.0001GB/s"))
    >>> [(row.min_bytes, row.max_bytes, row.algorithm) for row in policy.rows]
    [(8, 24002, 'recursive_doubling'), (24003, 8589934592, 'halving_doubling')]
    """
    low, high = _whole("min_bytes", min_bytes), _whole("max_bytes", max_bytes)
    if low > high:
        raise InputError(
            f"sizes: got {low} to {high} bytes, expected a range that is not empty"
        )
    kind = collective(collective_name)
    found, left_out = curves(kind.name, cluster, root=root, chunks=chunks, model=model)
    candidates = [Candidate(curve, i) for i, curve in enumerate(found)]
    envelope = Envelope(low, high)
    ranked = _promising_first(candidates, low, high, left_out)
    slow = [candidate for candidate in ranked if not _lower(envelope, candidate)]
    if not envelope.stretches:
        raise InputError(f"{kind.name}: no algorithm applies; {'; '.join(left_out.values())}")
    for candidate in slow:
        above = min(envelope.times_above(v.lines()) for v in candidate.possible())
        left_out[candidate.name] = (
            f"too slow at every size: at least {above:.3g} times as long as the fastest"
            if above >= 1.01
            else "never faster than what was found, by its lower bound"
        )
    variants = {v.owner: v for candidate in ranked for v in candidate.possible()}
    limit = bound(kind, cluster)
    rows = [_row(group, variants, limit) for group in _ranges(envelope.stretches, variants)]
    return Policy(cluster.name, kind.name, cluster.ranks, low, high, tuple(rows), left_out)


def _whole(what: str, given: Any) -> int:
    size = parse_size(given) if isinstance(given, str) else given
    if isinstance(size, bool) or not isinstance(size, int | float) or size != size // 1:
        raise InputError(f"{what}: got {given!r}, expected whole bytes")
    if not 0 <= size < math.inf:
        raise InputError(f"{what}: got {given!r}, expected 0 or more")
    return int(size)


def _promising_first(
    candidates: list[Candidate], low: int, high: int, left_out: dict[str, str]
) -> list[Candidate]:
    """Return those that can be simulated, by how low their bounds are."""
    count = 16
    start = max(1, low)
    sizes = [start * (max(1, high) / start) ** (i / count) for i in range(count + 1)]
    ranked: list[tuple[float, int, Candidate]] = []
    for i, candidate in enumerate(candidates):
        try:
            first = next(candidate.possible())
        except TooLargeError as error:
            left_out[candidate.name] = str(error)
            continue
        score = sum(math.log(max(first.bound(n), 1e-300)) for n in sizes)
        ranked.append((score, i, candidate))
    return [candidate for _, _, candidate in sorted(ranked, key=lambda entry: entry[:2])]


def _lower(envelope: Envelope, candidate: Candidate) -> bool:
    """Lower the envelope to all variants of an algorithm; return whether any was tried."""
    tried = False
    noise = FAIR_NOISE if candidate.fair else TIE
    for variant in candidate.possible():
        if not _below(envelope, variant):
            continue
        try:
            spans = _below(envelope, variant, sure=True)
        except TooLargeError:
            continue
        for start, end in spans:
            envelope.lower(trace(variant.seconds, start, end, variant.owner, noise))
            tried = True
    return tried


def _below(envelope: Envelope, variant: Variant, sure: bool = False) -> list[tuple[int, int]]:
    """Return where the bound of a variant leaves room for it below what is known."""
    spans = envelope.below(variant.lines(sure))
    return [(max(a, variant.low), b) for a, b in spans if b >= variant.low]


def _ranges(
    stretches: list[Stretch], variants: dict[int, Variant]
) -> Iterator[tuple[Stretch, ...]]:
    """Yield neighbours of one algorithm together."""
    for _, group in groupby(stretches, key=lambda part: variants[part.owner].name):
        yield tuple(group)


def _row(group: tuple[Stretch, ...], variants: dict[int, Variant], limit: Bound) -> Range:
    low, high = group[0].low, group[-1].high
    middle = min(high, max(low, math.isqrt(max(1, low) * high)))
    here = next(part for part in group if part.low <= middle <= part.high)
    winner = variants[here.owner]
    time = winner.seconds(middle)
    others = [v for v in variants.values() if v.name != winner.name and v.low <= middle]
    name, seconds = _next_best(others, middle)
    least = limit.seconds(middle)
    return Range(
        min_bytes=low,
        max_bytes=high,
        algorithm=winner.name,
        protocol=None,
        chunks=winner.chunks,
        chunks_from=variants[group[0].owner].chunks,
        chunks_to=variants[group[-1].owner].chunks,
        channels=winner.channels,
        model="formula" if winner.candidate.formula else "event",
        size=middle,
        time_us=time * 1e6,
        gain=max(1.0, seconds / time) if time > 0 and name is not None else None,
        runner_up=name,
        lower_bound_us=least * 1e6,
        efficiency=min(1.0, least / time) if time > 0 else None,
    )


def _next_best(others: list[Variant], nbytes: int) -> tuple[str | None, float]:
    """Return the fastest of some variants at a size, with its time.

    Those of a low bound come first; the rest is never run.
    """
    name, best = None, math.inf
    bounds = sorted((v.bound(nbytes), v.owner, v) for v in others)
    for least, _, variant in bounds:
        if least > best:
            break
        try:
            seconds = variant.seconds(nbytes)
        except TooLargeError:
            continue
        if seconds < best * (1 - TIE):
            name, best = variant.name, seconds
    return name, best
