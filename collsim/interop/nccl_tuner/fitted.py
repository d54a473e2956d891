"""NCCL's choice beside the fastest of what it has, in fitted times of each protocol."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from collsim.calibrate.nccl_model import Case, Fitted
from collsim.choose.against import Comparison, Loss
from collsim.choose.curve import TIE
from collsim.core.collective import collective
from collsim.errors import InputError
from collsim.interop.nccl_tuner.against import MIN_GAIN
from collsim.interop.nccl_tuner.names import OUR_NAME
from collsim.interop.nccl_tuner.ranges import TOP, Own, doublings
from collsim.nccl import ChoiceRange, Tuning

__all__ = ["FittedCurve", "against_fitted", "unseen"]

_PER_DOUBLING = 8
_TOLD = 1e-3
Piece = tuple[str, str]


@dataclass(frozen=True)
class FittedCurve:
    """The fitted times of an algorithm with the best of its protocols, or of one of them."""

    fitted: Fitted
    collective: str
    ranks: int
    nodes: int
    algorithm: str
    protocol: str | None = None

    def seconds(self, nbytes: float) -> float:
        """Return the time in seconds at a size in bytes."""
        where = self.collective, self.ranks, self.nodes
        return self.fitted.named(*where, nbytes, self.algorithm, self.protocol)[1]


def unseen(fitted: Fitted, table: Tuning, collective_name: str) -> list[str]:
    """Return what NCCL has there that no row of the fit has shown, by NCCL's names."""
    pieces = _pieces(fitted, table, collective_name)
    return [f"{a}/{p}" for a, p in pieces if not fitted.shown(a, p)]


def against_fitted(
    collective_name: str,
    fitted: Fitted,
    table: Tuning,
    *,
    min_bytes: int = 8,
    max_bytes: int = 2**33,
    min_gain: float = MIN_GAIN,
    seen: tuple[int, int] | None = None,
    held: str = "",
) -> Comparison:
    """Compare NCCL's choice with the fastest of what it has, in fitted times.

    What no row of the fit has shown is no candidate: its times are NCCL's own constants. The
    choice is that of :meth:`Fitted.choice`, as in a prediction: so nothing gains where NCCL's
    table does not tell what ran, and the fastest is taken for it.

    Parameters
    ----------
    collective_name : str
        One of the five that NCCL chooses an algorithm for, in any spelling.
    fitted : Fitted
        Times.
    table : Tuning
        NCCL's model there.
    min_bytes, max_bytes : int
        Sizes, both inclusive.
    min_gain : float
        The least gain that counts, as a share.
    seen : tuple of int, optional
        Sizes, both inclusive, beyond which no gain counts.
    held : str
        Why none counts at any size; empty if some do.

    Raises
    ------
    InputError
        If no row of the fit has shown anything that NCCL has there.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model import System, fit_nccl
    >>> from collsim.core.measurements import Measurement
    >>> system = System("ampere", 12, 240.0)
    >>> rows = [Measurement("all_gather", 8, 2**k, 15e-6 + 2**k * 4e-12) for k in range(10, 31)]
    >>> found = against_fitted("all_gather", fit_nccl(rows, system), system.table(8, 1))
    >>> found.rows[0].min_bytes, found.rows[-1].max_bytes, found.available
    (8, 8589934592, ('ring/ll', 'ring/ll128', 'ring/simple'))
    """
    name = collective(collective_name).name
    known = _pieces(fitted, table, name)
    pieces = [p for p in known if fitted.shown(*p)] or (known if held else [])
    if not pieces:
        raise InputError(f"{name}: no row of the fit shows anything that NCCL has there")
    pair = _Pair(fitted, Own(table, name), table, tuple(pieces), min_gain)
    least, most = (0, -1) if held else seen or (0, TOP)
    rows: list[Loss] = []
    chosen = pair.own.pairs if fitted.by_table else _fastest(pair, min_bytes, max_bytes)
    for part in chosen:
        low, high = max(min_bytes, part.min_bytes), min(max_bytes, part.max_bytes)
        for first, last, counts in (
            (low, min(high, least - 1), False),
            (max(low, least), min(high, most), True),
            (max(low, most + 1, least), high, False),
        ):
            if first <= last:
                rows += replace(pair, counts=counts).compared(first, last, part)
    names = tuple(f"{OUR_NAME[a]}/{p}" for a, p in pieces)
    return Comparison(
        name,
        table.version,
        names,
        min_gain,
        tuple(rows),
        table.comm.origin,
        measured=True,
        fitted=True,
        by_table=fitted.by_table,
        held=held,
    )


def _fastest(pair: "_Pair", low: int, high: int) -> list[ChoiceRange]:
    """Return what is chosen from one size to another where that is the fastest piece."""
    comm = pair.table.comm

    def chosen(nbytes: int) -> Piece:
        return pair.fitted.choice(pair.own.collective, comm.ranks, comm.nodes, nbytes)

    found: list[ChoiceRange] = []
    begin, piece = low, chosen(low)
    for end in doublings(low, high, _PER_DOUBLING):
        then = chosen(end)
        while piece != then:
            last, above = begin, end
            while above - last > 1:
                middle = (last + above) // 2
                last, above = (middle, above) if chosen(middle) == piece else (last, middle)
            found.append(ChoiceRange(begin, last, *piece, channels=0))
            begin, piece = above, chosen(above)
    return [*found, ChoiceRange(begin, high, *piece, channels=0)]


def _pieces(fitted: Fitted, table: Tuning, name: str) -> list[Piece]:
    """Return what both NCCL's model and the fit have."""
    comm = table.comm
    known = fitted.available(name, comm.ranks, comm.nodes)
    on = {(a, p) for (c, a, p), cell in table.cells.items() if c == name and cell.bandwidth}
    return [piece for piece in known if piece in on and piece[0] in OUR_NAME]


@dataclass(frozen=True)
class _Pair:
    """NCCL's choice and the fitted times of what it has."""

    fitted: Fitted
    own: Own
    table: Tuning
    pieces: tuple[Piece, ...]
    min_gain: float
    counts: bool = True

    def compared(self, low: int, high: int, part: ChoiceRange) -> Iterator[Loss]:
        """Yield rows over sizes at which NCCL's choice is one piece."""
        sizes = doublings(low, high, _PER_DOUBLING)
        chosen = part.algorithm, part.protocol
        states = [self._state(chosen, n) for n in sizes]
        begin, first = low, 0
        for i in range(1, len(sizes)):
            if states[i][:2] == states[first][:2]:
                continue
            border = self._border(chosen, sizes[i - 1], sizes[i])
            yield self._row(begin, border, chosen, states[first:i], sizes[first:i])
            begin, first = border + 1, i
        yield self._row(begin, high, chosen, states[first:], sizes[first:])

    def _times(self, chosen: Piece, nbytes: int) -> tuple[float, Piece, float]:
        """Return the time of NCCL's choice, the fastest, and its time."""
        comm = self.table.comm
        every = (chosen, *self.pieces) if chosen[0] in OUR_NAME else self.pieces
        cases = [
            Case(self.own.collective, comm.ranks, comm.nodes, float(nbytes), *piece)
            for piece in every
        ]
        times = self.fitted.times(cases)
        best = int(np.argmin(times))
        return float(times[0]), every[best], float(times[best])

    def _state(self, chosen: Piece, nbytes: int) -> tuple[bool, Piece, float]:
        """Return whether something gains enough, what it is (else the choice), the gain."""
        own, best, least = self._times(chosen, nbytes)
        gain = own / least if least else 1.0
        enough = best != chosen and gain >= 1 + max(self.min_gain, TIE)
        return enough, best if enough else chosen, gain

    def _border(self, chosen: Piece, low: int, high: int) -> int:
        first = self._state(chosen, low)[:2]
        while high - low > max(1, low * _TOLD):
            middle = (low + high) // 2
            if self._state(chosen, middle)[:2] == first:
                low = middle
            else:
                high = middle
        return low

    def _row(
        self,
        low: int,
        high: int,
        chosen: Piece,
        states: list[tuple[bool, Piece, float]],
        sizes: list[int],
    ) -> Loss:
        middle = min(high, max(low, math.isqrt(max(1, low) * high)))
        own, best, least = self._times(chosen, middle)
        if states[0][0]:
            best = states[0][1]
            least = FittedCurve(
                self.fitted, self.own.collective, self.table.comm.ranks,
                self.table.comm.nodes, *best,
            ).seconds(middle)  # fmt: skip
        gain = own / least if least else 1.0
        most, where = max(
            [*((s[2], n) for s, n in zip(states, sizes, strict=True)), (gain, middle)]
        )
        name = self.own.collective
        channels = [self.table.channels(name, *chosen, n) for n in (middle, low, high)]
        return Loss(
            min_bytes=low,
            max_bytes=high,
            nccl_algorithm=chosen[0],
            nccl_protocol=chosen[1],
            nccl_channels=channels[0],
            nccl_channels_from=channels[1],
            nccl_channels_to=channels[2],
            best_algorithm=best[0],
            best_protocol=best[1],
            algorithm=OUR_NAME[best[0]],
            size=middle,
            nccl_us=own * 1e6,
            time_us=least * 1e6,
            nccl_model_us=self.own.model_us(*chosen, middle),
            best_model_us=self.own.model_us(*best, middle),
            gain=gain,
            most=most,
            most_size=where,
            gained=states[0][0] and self.counts,
            doubtful=states[0][0] and not self.counts,
        )
