"""From messages between pairs, alone and at once, to a model that predicts schedules.

A message alone costs alpha + n beta. Between GPUs ping-pong tells both. Ranks that share the
cores of one machine sleep until it is their turn, and waking one costs more the more there
are: there a message that goes around all of them tells alpha and beta.

What k messages at once cost tells what ranks share: on one machine without GPUs they share
its cores, which copy every byte, so messages wait for each other. That is modelled as one
link of L lanes, ``cores``, which every message crosses and of which it holds a lane for
``alpha_busy + n beta_cores`` of its alpha + n beta:

    T(k, n) = launch + alpha + n beta + (ceil(k / L) - 1) (alpha_busy + n beta_cores)

Both are 0 where messages do not hinder each other, and alpha and beta where one core does
all the work. L is the number that fits best. The launch, which is 0 in messages that follow
each other, is what all ranks pay once for beginning together: they wake from a barrier, on
cores that are fewer than they. Adding up costs gamma for every byte, measured apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.point_to_point.pair_fit import two_parameters, what_further_add
from collsim.calibrate.solve import solve, told_apart
from collsim.core.measurements_format import MeasuredRow
from collsim.core.profile import ErrorSummary, Parameter
from collsim.errors import InputError
from collsim.units import format_size

__all__ = ["PointToPoint", "alone_in", "fit_point_to_point"]

FloatArray = NDArray[np.float64]

_TOGETHER: Final = ("pairs", "exchange", "shift")
# Below this part of alpha and beta a link shared by all is as good as none.
_NONE: Final = 1e-3
# Fits that are that near are as good as each other.
_ALIKE: Final = 1.02
_TINY: Final = 1e-4


@dataclass(frozen=True)
class PointToPoint:
    """What messages between pairs cost.

    Parameters
    ----------
    alpha, beta : Parameter
        Of a message alone: seconds, and seconds per byte.
    busy, shared : Parameter
        Seconds, and seconds per byte, for which a message holds its lane.
    lanes : int
        Messages that do not hinder each other.
    launch : Parameter
        Seconds that all pay once for beginning together; 0 if it was not measured.
    gamma : float
        Seconds per byte that is added up; 0 if it was not measured.
    together : ErrorSummary, optional
        How far the model is off where several messages are under way.
    alone : ErrorSummary
        The same for one.
    """

    alpha: Parameter
    beta: Parameter
    busy: Parameter
    shared: Parameter
    lanes: int
    launch: Parameter
    gamma: float
    alone: ErrorSummary
    together: ErrorSummary | None

    @property
    def shares(self) -> bool:
        """Whether messages at once hinder each other."""
        return (
            self.busy.value > _NONE * self.alpha.value
            or self.shared.value > _NONE * self.beta.value
        )


def fit_point_to_point(
    rows: Iterable[MeasuredRow],
    pairs: Sequence[Sequence[int]] | None = None,
    lanes: Sequence[int] | None = None,
) -> PointToPoint:
    """Fit the model to rows of `calibrate measure`, as `read_rows` returns them.

    Parameters
    ----------
    rows : iterable of mapping
        Those of point-to-point patterns are used, others passed by.
    pairs : sequence of (int, int), optional
        Ping-pong of these pairs alone; by default the message that goes around one machine
        without GPUs, or else ping-pong of the first pair that was measured.
    lanes : sequence of int, optional
        Which numbers of lanes to try, the most that fit as well as any are taken; by default
        all below the messages at once, and the fewest.

    Raises
    ------
    InputError
        If there are no ping-pong rows of at least two sizes, or a time is not above 0.

    Examples
    --------
    >>> def row(pattern, k, n):
    ...     return {"pattern": pattern, "at_once": k, "size": n, "pairs": [[0, 1]],
    ...             "seconds": 1e-5 + n * 1e-9 + (k > 2) * (2e-6 + n * 5e-10)}
    >>> sizes = (8, 1024, 65536, 2**20)
    >>> rows = [row("ping_pong", 1, n) for n in sizes] + [row("shift", 4, n) for n in sizes]
    >>> rows += [row("pairs", 2, n) for n in sizes]
    >>> found = fit_point_to_point(rows)
    >>> [f"{p.value:.3g}" for p in (found.alpha, found.beta, found.busy, found.shared)]
    ['1e-05', '1e-09', '2e-06', '5e-10']
    >>> found.lanes
    2
    """
    every = list(rows)
    alone = alone_in(every, pairs)
    if not alone:
        raise InputError(
            "no row of ping_pong, expected some from `collsim calibrate measure p2p`"
        )
    sizes, seconds = _columns(alone)
    design = np.stack([np.ones_like(sizes), sizes], axis=1)
    if not told_apart(design, seconds):
        raise InputError("ping_pong rows of one size, expected several to tell alpha from beta")
    alpha, beta = two_parameters(design, seconds, ("s", "s/B"))
    if beta.value == 0:
        raise InputError(
            f"{alone[0]['pattern']}: times do not grow up to {format_size(int(sizes.max()))}, "
            "expected larger sizes, which tell beta"
        )
    busy, shared = Parameter(0.0, None, None, "s"), Parameter(0.0, None, None, "s/B")
    together = [row for row in every if row.get("pattern") in _TOGETHER and _many(row) > 1]
    summary, count = None, 1
    if together:
        most = max(map(_many, together))
        n, measured = _columns(together)
        given = ([_many(row) for row in together], n, measured, _base(together, alone, every))
        one = (alpha.value, beta.value)
        tried = [what_further_add(*given, one, k) for k in lanes or range(1, most)]
        best = min(tried, key=lambda found: found.residual)
        if lanes is not None:
            # Four messages at twice the time of one: two NICs, or one that four fill twice.
            near = [f for f in tried if f.residual <= best.residual * _ALIKE + _TINY]
            best = max(near, key=lambda found: found.lanes)
        busy, shared, count = best.busy, best.shared, best.lanes
        turns = np.array([-(-_many(row) // count) for row in together])
        predicted = alpha.value + n * beta.value
        predicted += (turns - 1) * (busy.value + n * shared.value)
        summary = _summary("several at once", predicted / measured)
    return PointToPoint(
        alpha,
        beta,
        busy,
        shared,
        count,
        _launch(every, alpha.value, beta.value),
        _gamma(every),
        _summary("in_sample", (design @ [alpha.value, beta.value]) / seconds),
        summary,
    )


def alone_in(
    rows: Sequence[MeasuredRow], pairs: Sequence[Sequence[int]] | None = None
) -> list[MeasuredRow]:
    """Return the rows of one message that is under way alone."""
    around = [
        row for row in rows
        if row.get("pattern") == "relay" and not row.get("device") and row.get("nodes", 1) == 1
    ]  # fmt: skip
    if around and pairs is None:
        return around
    found = [row for row in rows if row.get("pattern") == "ping_pong"]
    wanted = found[0].get("pairs") if found and pairs is None else pairs
    return [row for row in found if row.get("pairs") == wanted]


def _many(row: MeasuredRow) -> int:
    return int(row.get("at_once") or 1)


def _columns(rows: Sequence[MeasuredRow]) -> tuple[FloatArray, FloatArray]:
    sizes = np.array([float(row["size"]) for row in rows])
    seconds = np.array([float(row["seconds"]) for row in rows])
    if not np.all(seconds > 0):
        raise InputError(f"seconds: got {seconds.min():g}, expected times above 0")
    return sizes, seconds


def _base(
    rows: Sequence[MeasuredRow], alone: Sequence[MeasuredRow], every: Sequence[MeasuredRow]
) -> FloatArray:
    """Return what one message took at the size of each row, among as many ranks.

    What it took, and not what was fitted to it: a bend in those times, where caches end,
    is not to be taken for messages that wait for each other.
    """
    two = [row for row in every if row.get("pattern") == "ping_pong"] or alone
    made = []
    for row in rows:
        single = alone if row["pattern"] == "shift" else two
        n, seconds = _columns(sorted(single, key=lambda one: float(one["size"])))
        made.append(np.exp(np.interp(np.log(float(row["size"])), np.log(n), np.log(seconds))))
    return np.array(made)


def _launch(rows: Sequence[MeasuredRow], alpha: float, beta: float) -> Parameter:
    """Return what one message costs beyond itself where all ranks begin together."""
    own = [row for row in rows if row.get("pattern") == "start"]
    if not own:
        return Parameter(0.0, None, None, "s", kind="assumption")
    n, measured = _columns(own)
    # Of the smaller half of the sizes, where it is not lost in what the bytes cost.
    small = n <= np.median(n)
    extra = float(np.median((measured - alpha - n * beta)[small]))
    return Parameter(max(0.0, extra), None, None, "s")


def _gamma(rows: Sequence[MeasuredRow]) -> float:
    """Return seconds per byte added up; a constant part is the call's, not the bytes'."""
    own = [row for row in rows if row.get("pattern") == "add"]
    if len(own) < 2:
        return 0.0
    sizes, seconds = _columns(own)
    design = np.stack([np.ones_like(sizes), sizes], axis=1)
    return solve(design, seconds).values[1] if told_apart(design, seconds) else 0.0


def _summary(kind: str, ratios: FloatArray) -> ErrorSummary:
    off = np.abs(ratios - 1.0)
    return ErrorSummary(kind, float(np.median(off)), float(np.quantile(off, 0.9)), off.size)
