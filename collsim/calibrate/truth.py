"""What a measured row, of whatever format, cannot say truly."""

from typing import Final

from collsim.core.measurements import CPU_TIME, Measurement

__all__ = ["FASTEST", "doubt"]

FASTEST: Final = 50e12
"""Bytes per second; several times what any GPU's memory moves."""


def doubt(row: Measurement) -> str | None:
    """Return why a row cannot be true or is of no work, or None.

    Examples
    --------
    >>> doubt(Measurement("all_reduce", 8, nbytes=2**30, seconds=2e-7))
    '1073741824 bytes in 0.2 us are more than any memory moves'
    >>> doubt(Measurement("all_reduce", 8, nbytes=2**30, seconds=2e-3))
    """
    if row.seconds == 0:
        return "a time of 0 cannot be true"
    if row.wrong:
        return f"{row.wrong} elements are wrong"
    if row.ranks == 1 and row.in_place:
        return "one rank in place moves nothing, so the time is of no work"
    # The CPU may be done with a call before its bytes have moved.
    if row.nbytes / row.seconds > FASTEST and not (row.source.clock or "").startswith(CPU_TIME):
        time = f"{row.seconds * 1e6:.6g} us"
        return f"{row.nbytes} bytes in {time} are more than any memory moves"
    return None
