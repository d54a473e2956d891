"""NCCL's choice beside the fastest of what NCCL has, in simulated time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from collsim.choose.against import Comparison, Loss
from collsim.choose.curve import Curve
from collsim.choose.policy import choose
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.errors import InputError
from collsim.interop.nccl_tuner.names import NCCL_OF, OUR_NAME, available
from collsim.interop.nccl_tuner.ranges import Own, at
from collsim.nccl import Tuning

__all__ = ["MIN_GAIN", "Against", "against"]

Verdict = Literal["none", "doubtful", "gained"]

# A gain of less is not worth a line of its own.
MIN_GAIN: Final = 0.03
# Gains are looked at in so many places of a doubling, and where one passes the least that
# counts is told to this share of the size.
_PER_DOUBLING: Final = 2
_TOLD: Final = 1e-3


def against(
    collective_name: str,
    cluster: Cluster,
    table: Tuning,
    *,
    min_bytes: int = 8,
    max_bytes: int = 2**33,
    min_gain: float = MIN_GAIN,
    bytes_only: bool = False,
    **run: Any,
) -> Comparison:
    """Compare NCCL's choice with the fastest of what it has.

    Parameters
    ----------
    collective_name : str
        One of the five that NCCL chooses an algorithm for, in any spelling.
    cluster : Cluster
        Where it runs.
    table : Tuning
        NCCL's model there.
    min_bytes, max_bytes : int
        Sizes, both inclusive.
    min_gain : float
        The least gain that counts, as a share.
    bytes_only : bool
        Whether the latencies of NCCL's algorithms are not known, as without a profile that
        was measured. Then only what bytes decide counts: a gain is one if NCCL's choice took
        no time but its bytes', and the other one NCCL's own latency on top.
    **run
        As for :func:`collsim.choose.policy.choose`.

    Examples
    --------
    >>> from collsim.nccl import communicator, tuning
    >>> cluster = Cluster.load("dgx-h100", gpus_per_node=4)
    >>> found = against("broadcast", cluster, tuning(communicator(cluster)))
    >>> [(row.nccl_algorithm, row.best_algorithm, row.gain) for row in found.rows]
    [('ring', 'ring', 1.0)]
    """
    name = collective(collective_name).name
    theirs = [a for a in available(table, name) if a in OUR_NAME]
    ours = [OUR_NAME[a] for a in theirs]
    if not ours:
        raise InputError(f"{name}: NCCL has no algorithm there that is simulated here")
    policy = choose(
        name, cluster, min_bytes=min_bytes, max_bytes=max_bytes, algorithms=ours, **run
    )
    run = {key: value for key, value in run.items() if key in {"root", "model"}}
    curves = {a: Curve(name, OUR_NAME[a], cluster, **run) for a in theirs}
    pair = Against(Own(table, name), curves, min_gain, bytes_only)
    rows: list[Loss] = []
    for part in policy.rows:
        best = NCCL_OF[part.algorithm.partition(":")[0]]
        for row in pair.compared(part.min_bytes, part.max_bytes, best):
            if rows and _alike(rows[-1], row):
                row = pair.row(rows[-1].min_bytes, row.max_bytes, row, rows[-1])  # noqa: PLW2901
                rows.pop()
            rows.append(row)
    origin = table.comm.origin
    return Comparison(name, table.version, tuple(ours), min_gain, tuple(rows), origin)


@dataclass(frozen=True, eq=False)
class Against:
    """NCCL's model and our times of what it has.

    Parameters
    ----------
    own : Own
        NCCL's choice.
    curves : dict of Curve
        By NCCL's names.
    min_gain : float
        The least gain that counts, as a share.
    bytes_only : bool
        Whether only what bytes decide counts.
    """

    own: Own
    curves: dict[str, Curve]
    min_gain: float
    bytes_only: bool = False

    def gain(self, chosen: str, best: str, nbytes: int) -> float | None:
        """Return the time of one algorithm / that of another; None if one is not simulated."""
        if chosen == best:
            return 1.0
        if chosen not in self.curves:
            return None
        least = self.curves[best].seconds(nbytes)
        return self.curves[chosen].seconds(nbytes) / least if least else 1.0

    def sure_gain(self, chosen: str, best: str, nbytes: int) -> float:
        """Return the gain if NCCL's choice had no latency, and the other one NCCL's on top."""
        least = self.curves[best].seconds(nbytes) + self.own.latency(best, nbytes)
        return self.curves[chosen].bytes_floor(nbytes) / least if least else 1.0

    def verdict(self, chosen: str, best: str, nbytes: int) -> Verdict:
        """Return whether the gain at a size is one that counts."""
        least = 1 + self.min_gain
        gain = self.gain(chosen, best, nbytes)
        if gain is None or gain < least:
            return "none"
        if self.bytes_only and self.sure_gain(chosen, best, nbytes) < least:
            return "doubtful"
        return "gained"

    def compared(self, low: int, high: int, best: str) -> Iterator[Loss]:
        """Yield rows from one size to another, over which one algorithm is the fastest."""
        start = low
        for r in self.own.choice:
            end = min(high, r.max_bytes)
            if end < start:
                continue
            yield from self._parted(start, end, r.algorithm, best)
            start = end + 1
            if start > high:
                return

    def _parted(self, low: int, high: int, chosen: str, best: str) -> Iterator[Loss]:
        """Yield rows that are parted where the gain passes the least that counts."""
        sizes = _sizes(low, high)
        verdicts = [self.verdict(chosen, best, n) for n in sizes]
        start = 0
        begin = low
        for i in range(1, len(sizes)):
            if verdicts[i] == verdicts[start]:
                continue
            border = self._border(chosen, best, sizes[i - 1], sizes[i])
            yield self._made(begin, border, chosen, best, sizes[start:i], verdicts[start])
            begin, start = border + 1, i
        yield self._made(begin, high, chosen, best, sizes[start:], verdicts[start])

    def _border(self, chosen: str, best: str, low: int, high: int) -> int:
        first = self.verdict(chosen, best, low)
        while high - low > max(1, low * _TOLD):
            middle = (low + high) // 2
            if self.verdict(chosen, best, middle) == first:
                low = middle
            else:
                high = middle
        return low

    def _made(
        self,
        low: int,
        high: int,
        chosen: str,
        best: str,
        sizes: list[int],
        verdict: Verdict,
    ) -> Loss:
        middle = min(high, max(low, math.isqrt(max(1, low) * high)))
        gain = self.gain(chosen, best, middle)
        seen = [(self.gain(chosen, best, n), n) for n in (*sizes, low, high, middle)]
        most, where = max((g or 0.0, n) for g, n in seen)
        there = at(self.own.choice, middle)
        known = chosen in self.curves
        return Loss(
            min_bytes=low,
            max_bytes=high,
            nccl_algorithm=chosen,
            nccl_protocol=there.protocol,
            nccl_channels=there.channels,
            best_algorithm=best,
            algorithm=OUR_NAME[best],
            size=middle,
            nccl_us=self.curves[chosen].seconds(middle) * 1e6 if known else None,
            time_us=self.curves[best].seconds(middle) * 1e6,
            gain=gain,
            most=most if known else None,
            most_size=where,
            gained=verdict == "gained",
            doubtful=verdict == "doubtful",
        )

    def row(self, low: int, high: int, one: Loss, other: Loss) -> Loss:
        """Return two rows that say the same as one."""
        names = one.nccl_algorithm, one.best_algorithm
        made = self._made(low, high, *names, [], _verdict(one))
        most = max(one, other, key=lambda row: row.most or 0.0)
        return replace(made, most=most.most, most_size=most.most_size)


def _verdict(row: Loss) -> Verdict:
    return "gained" if row.gained else "doubtful" if row.doubtful else "none"


def _alike(one: Loss, other: Loss) -> bool:
    return (one.nccl_algorithm, one.best_algorithm, _verdict(one)) == (
        other.nccl_algorithm,
        other.best_algorithm,
        _verdict(other),
    )


def _sizes(low: int, high: int) -> list[int]:
    """Return sizes from one to another, so many for each doubling."""
    count = max(1, math.ceil(math.log2(high / max(1, low)) * _PER_DOUBLING))
    start = max(1, low)
    inner = {round(start * (high / start) ** (i / count)) for i in range(1, count)}
    return sorted({low, high, *(n for n in inner if low < n < high)})
