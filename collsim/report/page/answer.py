"""All that a report says, found once: the policy, every contender's times, and timelines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from collsim.choose.curve import Counts, Curve, Model, Time
from collsim.choose.curves import curves
from collsim.choose.policy import Policy, choose
from collsim.choose.specs import spec_list
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.bound import bound
from collsim.errors import InputError, TooLargeError
from collsim.units import format_size

__all__ = ["Answer", "Crossing", "Line", "Run", "answer"]

# Ranks from which only the fastest and the next best are drawn where times are simulated:
# all others at all sizes would take minutes.
_FEW_FROM: Final = 128
# Sizes in each doubling where times come from formulas.
_DENSE: Final = 4
# Sizes at which the winner is shown message by message, unless some are named.
_SHOWN: Final = 6


@dataclass(frozen=True)
class Line:
    """One algorithm's time at every size that is drawn."""

    algorithm: str
    sizes: tuple[float, ...]
    times: tuple[Time, ...]


@dataclass(frozen=True)
class Crossing:
    """A border of the policy: the last size of one algorithm, and its time there."""

    size: int
    seconds: float
    below: str
    above: str


@dataclass(frozen=True, eq=False)
class Run:
    """The winner at one size, message by message, beside the times of all others there.

    Parameters
    ----------
    size : int
        Bytes.
    algorithm : str
        The fastest.
    time : Time
        What it takes, in how many chunks and channels.
    timeline : Timeline
        Its messages.
    others : dict of Time
        Every contender, the fastest first.
    """

    size: int
    algorithm: str
    time: Time
    timeline: Timeline
    others: dict[str, Time]


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to: which algorithm, on this cluster, at which sizes.

    Parameters
    ----------
    cluster : Cluster
        Where.
    policy : Policy
        Ranges of sizes.
    lines : tuple of Line
        Of every contender.
    bound : tuple of (float, float)
        Sizes, and seconds that no algorithm is below.
    crossings : tuple of Crossing
        Between neighbours of the policy.
    runs : tuple of Run
        By size.
    left_out : dict of str
        What is not drawn or not tried, and why.
    """

    cluster: Cluster
    policy: Policy
    lines: tuple[Line, ...]
    bound: tuple[tuple[float, float], ...]
    crossings: tuple[Crossing, ...]
    runs: tuple[Run, ...]
    left_out: dict[str, str]


def answer(
    collective_name: str,
    cluster: Cluster,
    *,
    min_bytes: int | str = 8,
    max_bytes: int | str = 8 * 2**30,
    sizes: Sequence[int] = (),
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    algorithms: Sequence[str] | str | None = None,
    model: Model = "auto",
) -> Answer:
    """Choose, and find what a report tells beside.

    Parameters
    ----------
    collective_name, cluster, min_bytes, max_bytes, root, chunks, channels, algorithms, model
        As in :func:`collsim.choose`.
    sizes : sequence of int
        At which to show the winner message by message; by default the middle of each range.

    Raises
    ------
    InputError
        As `choose`, or if a size is outside of its range.

    Examples
    --------
    >>> found = answer("all_reduce", Cluster.ideal(8, "10us", "900GB/s"))
    >>> [crossing.size for crossing in found.crossings]
    [21599999]
    """
    run = {"root": root, "chunks": chunks, "channels": channels, "model": model}
    policy = choose(
        collective_name, cluster, min_bytes=min_bytes, max_bytes=max_bytes,
        algorithms=algorithms, **run,  # type: ignore[arg-type]
    )  # fmt: skip
    wanted = _wanted(policy, sizes)
    found, _ = curves(
        policy.collective, cluster, only=spec_list(algorithms), **run  # type: ignore[arg-type]
    )  # fmt: skip
    left_out = dict(policy.left_out)
    named = {curve.name: curve for curve in _contenders(found, policy, left_out)}
    borders = [row.max_bytes for row in policy.rows[:-1]]
    drawn = _drawn(policy, [*borders, *(n + 1 for n in borders), *wanted])
    lines = []
    for name, curve in list(named.items()):
        try:
            times = tuple(curve.at(n) for n in drawn)
        except TooLargeError as error:
            left_out[name] = f"not drawn: {error}"
            del named[name]
        else:
            lines.append(Line(name, drawn, times))
    at = {line.algorithm: dict(zip(drawn, line.times, strict=True)) for line in lines}
    limit = bound(named[policy.rows[0].algorithm].collective, cluster)
    return Answer(
        cluster=cluster,
        policy=policy,
        lines=tuple(lines),
        bound=tuple((n, limit.seconds(n)) for n in drawn),
        crossings=tuple(
            Crossing(row.max_bytes, at[row.algorithm][row.max_bytes].seconds, row.algorithm,
                     after.algorithm)
            for row, after in zip(policy.rows[:-1], policy.rows[1:], strict=True)
        ),
        runs=tuple(_run(policy, named, at, n) for n in wanted),
        left_out=left_out,
    )  # fmt: skip


def _wanted(policy: Policy, sizes: Sequence[int]) -> tuple[int, ...]:
    for size in sizes:
        if not policy.min_bytes <= size <= policy.max_bytes:
            raise InputError(
                f"size: got {format_size(size)}, expected it from "
                f"{format_size(policy.min_bytes)} to {format_size(policy.max_bytes)}, "
                "the sizes that are reported"
            )
    middles = [row.size for row in policy.rows]
    # Of very many ranges, some of all sizes.
    step = max(1, -(-len(middles) // _SHOWN))
    return tuple(sorted(set(sizes or middles[::step])))


def _contenders(
    found: Sequence[Curve], policy: Policy, left_out: dict[str, str]
) -> list[Curve]:
    """Return what is drawn; say of the others why not."""
    if policy.ranks < _FEW_FROM or found[0].cluster.uniform is not None:
        return list(found)
    best = {row.algorithm for row in policy.rows} | {row.runner_up for row in policy.rows}
    for curve in found:
        if curve.name not in best:
            reason = f"not drawn: on {_FEW_FROM} ranks and more only the fastest two are"
            left_out.setdefault(curve.name, reason)
    return [curve for curve in found if curve.name in best]


def _drawn(policy: Policy, more: Sequence[int]) -> tuple[float, ...]:
    """Return the sizes of the curves: steps of binary sizes, and those that are looked at."""
    low, high = max(1, policy.min_bytes), policy.max_bytes
    dense = _DENSE if all(row.model == "formula" for row in policy.rows) else 1
    steps = {
        round(2 ** (k / dense))
        for k in range(dense * (low.bit_length() - 1), dense * high.bit_length() + 1)
    }
    sizes = {policy.min_bytes or 1, high, *more, *steps}
    return tuple(sorted(float(n) for n in sizes if low <= n <= high))


def _run(
    policy: Policy, named: dict[str, Curve], at: dict[str, dict[float, Time]], size: int
) -> Run:
    row = policy.at(size)
    times = {name: found[float(size)] for name, found in at.items()}
    time = times[row.algorithm]
    simulation = named[row.algorithm].simulation(time.chunks, time.channels)
    ranked = sorted(times, key=lambda name: (times[name].seconds, name != row.algorithm))
    return Run(
        size=size,
        algorithm=row.algorithm,
        time=time,
        timeline=simulation.run(size),
        others={name: times[name] for name in ranked},
    )
