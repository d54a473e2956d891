"""Which rows of a table of nccl-tests cannot be true, and why."""

from collsim.calibrate.importers._nccl_implied import contradiction, factor_range, half_unit
from collsim.calibrate.importers._nccl_rows import Columns, Half, Row
from collsim.calibrate.truth import FASTEST
from collsim.core.collective import collective

__all__ = ["Doubts", "seconds_of"]

# Largest error that the old layout's own check accepted (nccl-tests, common.cu).
_ERRORS = {"half": 1e-2, "bfloat16": 1e-2, "float": 1e-5, "double": 1e-12}
_MS_DECIMALS = 3
_SLACK = 1e-4  # what more than the rounding of both printed numbers may be between them


class Doubts:
    """What is known of the columns of a table, by which its rows are judged.

    Parameters
    ----------
    columns : Columns, optional
        As the head of the table names them.
    """

    def __init__(self, columns: Columns | None) -> None:
        self.columns = columns

    @property
    def unit(self) -> str:
        """Of the times, ``us`` or ``ms``."""
        return "us" if self.columns is None else self.columns.unit

    def failed(self, half: Half, dtype: str) -> bool:
        """Return whether elements came out wrong; an error that is no number is one, too."""
        if "nan" in half.wrong or "inf" in half.wrong:
            return True
        return half.readable and self._wrong_reason(half.wrong, dtype) is not None

    def of(self, row: Row, half: Half, name: str, ranks: int, in_place: bool) -> str | None:
        """Return why this half of a row cannot be used, or None."""
        if not half.readable:
            return f"time {half.time}, algbw {half.algbw}, busbw {half.busbw}: expected numbers"
        if not float(half.time) > 0:
            return f"a time of {half.time} {self.unit} cannot be true"
        if not self._in_unit(half):
            return f"a time of {half.time} has not the decimals of times in {self.unit}"
        wrong = contradiction(row, name, ranks) or self._wrong_reason(half.wrong, row.dtype)
        if wrong is None and ranks == 1:
            wrong = _doubt_of_one(half, collective(name).bus_factor(1), in_place)
        factor = collective(name).bus_factor(ranks)
        cpu = self.columns is not None and self.columns.cpu
        return wrong or _mismatch(row, half, factor, ranks, self.unit, not cpu)

    def _in_unit(self, half: Half) -> bool:
        """Return whether a time is in the unit of its column.

        A bandwidth tells it, but of few bytes it is 0.00; then the decimals do: three in ms,
        up to two in us.
        """
        if self.columns is not None and self.columns.exact:
            return True
        if float(half.algbw) > 4 * half_unit(half.algbw):
            return True
        decimals = len(half.time.partition("e")[0].partition(".")[2])
        return (decimals == _MS_DECIMALS) == (self.unit == "ms")

    def _wrong_reason(self, wrong: str, dtype: str) -> str | None:
        if wrong == "N/A":
            return None
        if self._is_error(wrong):
            most = _ERRORS.get(dtype, 0.0)
            good = float(wrong) <= most
            return None if good else f"an error of {wrong}, at most {most:g} is right"
        count = int(float(wrong))
        return None if count == 0 else f"{count} elements are wrong"

    def _is_error(self, wrong: str) -> bool:
        if self.columns is not None:
            return self.columns.error
        return "e" in wrong or "n" in wrong


def seconds_of(time: str, unit: str) -> float:
    """Return a printed time in seconds, by one rounding of its decimal.

    Examples
    --------
    >>> seconds_of("9.42", "us"), seconds_of("0.286", "ms")
    (9.42e-06, 0.000286)
    """
    exponent = -3 if unit == "ms" else -6
    mantissa, _, own = time.lower().partition("e")
    return float(f"{mantissa}e{int(own or 0) + exponent}")


def _doubt_of_one(half: Half, factor: float, in_place: bool) -> str | None:
    """Return why the time of one rank alone cannot be used, or None."""
    if in_place:
        return "one rank in place moves nothing, so the time is of no work"
    if factor == 0 and float(half.busbw) > 0:
        return f"one rank has no bus bandwidth, got {half.busbw} GB/s"
    return None


def _mismatch(
    row: Row, half: Half, factor: float, ranks: int, unit: str, moved: bool
) -> str | None:
    """Return which numbers of a row contradict each other or physics, or None.

    Bytes have `moved` by the end of the time, unless it is the CPU's.
    """
    seconds, algbw = seconds_of(half.time, unit), float(half.algbw) * 1e9
    if moved and row.nbytes / seconds > FASTEST:
        return f"{row.nbytes} bytes in {half.time} {unit} are more than any memory moves"
    scale = 1e-3 if unit == "ms" else 1e-6
    spread, margin = half_unit(half.time) * scale, half_unit(half.algbw) * 1e9
    low = row.nbytes / (seconds + spread) * (1 - _SLACK) - margin
    # A time below its own rounding may be anything above 0.
    high = row.nbytes / max(seconds - spread, 1e-12) * (1 + _SLACK) + margin
    if not low <= algbw <= high:
        return (
            f"algbw {half.algbw} does not follow from {row.nbytes} bytes in {half.time} {unit}"
        )
    found = factor_range(half)
    if found is not None and not found[0] <= factor <= found[1]:
        return f"busbw / algbw = {half.busbw}/{half.algbw} does not fit {ranks} ranks"
    return None
