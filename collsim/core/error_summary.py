"""How far a model is off, over rows."""

from dataclasses import dataclass

from collsim.core.parameter import check_number
from collsim.errors import InputError

__all__ = ["ErrorSummary"]


@dataclass(frozen=True)
class ErrorSummary:
    """Distribution over rows of the absolute value of predicted / measured - 1.

    Parameters
    ----------
    kind : str
        ``"in_sample"``, or what was held out: ``sizes collectives ranks nodes``.
    median, p90 : float
        Its median and its 90th percentile.
    n : int
        Number of rows.
    """

    kind: str
    median: float
    p90: float
    n: int

    def __post_init__(self) -> None:
        check_number("median", self.median)
        check_number("p90", self.p90)
        if self.n < 1:
            raise InputError(f"n: got {self.n!r}, expected a whole number from 1 up")
