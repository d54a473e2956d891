"""Two algorithms of NCCL's: by how much one is faster, and whether that counts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from collsim.choose.against import Loss
from collsim.choose.curve import TIE, Curve
from collsim.interop.nccl_tuner.names import OUR_NAME
from collsim.interop.nccl_tuner.ranges import Own, at, doublings

__all__ = ["Pair", "verdict_of"]

Verdict = Literal["none", "doubtful", "gained"]

# Gains are looked at in so many places of a doubling, and where one passes the least that
# counts is told to this share of the size.
_PER_DOUBLING: Final = 2
_TOLD: Final = 1e-3


@dataclass(frozen=True, eq=False)
class Pair:
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
        if chosen == best or gain is None or gain < max(least, 1 + TIE):
            return "none"
        if self.bytes_only and self.sure_gain(chosen, best, nbytes) < least:
            return "doubtful"
        return "gained"

    def compared(self, low: int, high: int, best: str) -> Iterator[Loss]:
        """Yield rows from one size to another, over which one algorithm is the fastest."""
        start = low
        for r in self.own.pairs:
            end = min(high, r.max_bytes)
            if end < start:
                continue
            yield from self._parted(start, end, r.algorithm, best)
            start = end + 1
            if start > high:
                return

    def _parted(self, low: int, high: int, chosen: str, best: str) -> Iterator[Loss]:
        """Yield rows that are parted where the gain passes the least that counts."""
        sizes = doublings(low, high, _PER_DOUBLING)
        verdicts = [self.verdict(chosen, best, n) for n in sizes]
        start = 0
        begin = low
        for i in range(1, len(sizes)):
            if verdicts[i] == verdicts[start]:
                continue
            border = self._border(chosen, best, sizes[i - 1], sizes[i])
            # What is narrower than borders are told to is none of its own.
            if 0 < border - begin <= 2 * _TOLD * begin:
                start = i
                continue
            if 0 < high - border <= 2 * _TOLD * border:
                break
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
        channels = [at(self.own.choice, n).channels for n in (middle, low, high)]
        protocol = at(self.own.pairs, middle).protocol
        faster = protocol if best == chosen else self.own.protocol(best, middle)
        known = chosen in self.curves
        return Loss(
            min_bytes=low,
            max_bytes=high,
            nccl_algorithm=chosen,
            nccl_protocol=protocol,
            nccl_channels=channels[0],
            nccl_channels_from=channels[1],
            nccl_channels_to=channels[2],
            best_algorithm=best,
            best_protocol=faster,
            algorithm=OUR_NAME[best],
            size=middle,
            nccl_us=self.curves[chosen].seconds(middle) * 1e6 if known else None,
            time_us=self.curves[best].seconds(middle) * 1e6,
            nccl_model_us=self.own.model_us(chosen, protocol, middle),
            best_model_us=self.own.model_us(best, faster, middle),
            gain=gain,
            most=most if known else None,
            most_size=where,
            gained=verdict == "gained",
            doubtful=verdict == "doubtful",
        )

    def row(self, low: int, high: int, one: Loss, other: Loss) -> Loss:
        """Return two rows that say the same as one."""
        names = one.nccl_algorithm, one.best_algorithm
        made = self._made(low, high, *names, [], verdict_of(one))
        most = max(one, other, key=lambda row: row.most or 0.0)
        return replace(made, most=most.most, most_size=most.most_size)


def verdict_of(row: Loss) -> Verdict:
    """Return whether a row is of a gain that counts."""
    return "gained" if row.gained else "doubtful" if row.doubtful else "none"
