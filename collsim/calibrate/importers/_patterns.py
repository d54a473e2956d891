"""Rows of `collsim calibrate measure` that are of messages between ranks."""

from dataclasses import replace

from collsim.calibrate.message import MESSAGE
from collsim.calibrate.rows import NO_COLLECTIVE
from collsim.core.measurements import Measurement

__all__ = ["as_pattern", "not_of_collective"]

_PING_PONG = "ping_pong"
_COLLECTIVE = "collective"


def not_of_collective(pattern: object) -> str | None:
    """Return why a row of a pattern is of no collective, or None.

    Examples
    --------
    >>> not_of_collective("shift")
    'shift, messages between ranks: no collective'
    >>> not_of_collective("ping_pong") is None and not_of_collective(None) is None
    True
    """
    if pattern in (None, "", _COLLECTIVE, _PING_PONG):
        return None
    return f"{str(pattern)[:24]}, messages between ranks: {NO_COLLECTIVE}"


def as_pattern(row: Measurement, pattern: object) -> Measurement:
    """Return the row of a pattern: ping-pong is one message one way.

    Examples
    --------
    >>> row = Measurement("sendrecv", 2, 8, 1e-6, algorithm="direct")
    >>> as_pattern(row, "ping_pong").algorithm, as_pattern(row, "collective").algorithm
    ('p2p', 'direct')
    """
    message = pattern == _PING_PONG and row.collective == "sendrecv"
    return replace(row, algorithm=MESSAGE) if message else row
