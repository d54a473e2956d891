"""Rows of policies: their attributes are the keys of the JSON output."""

from dataclasses import dataclass, field

from collsim.errors import InputError
from collsim.units import format_size, format_time_us

__all__ = ["Policy", "Range"]


@dataclass(frozen=True)
class Range:
    """A range of sizes and what is fastest in it.

    Parameters
    ----------
    min_bytes, max_bytes : int
        Both inclusive; the next range begins one byte above.
    algorithm, protocol : str
        What is fastest. Protocol is None unless a profile tells protocols apart.
    chunks, chunks_from, chunks_to : int
        Best chunk count at the middle of the range, at its lower and at its upper end.
    channels : int
        Copies of the algorithm that run at once at the middle, each on its share.
    model : str
        How the times were found: ``event`` or ``formula``.
    size : int
        The geometric middle of the range, to which what follows applies.
    time_us : float
        Microseconds there.
    gain : float or None
        Time of the next best algorithm / time of this one; None without another, or for 0/0.
    runner_up : str or None
        The next best algorithm.
    lower_bound_us : float
        No algorithm is faster on this cluster.
    efficiency : float or None
        Lower bound / time; None for 0/0.
    confirmed : bool or None
        Where the formula gave time and chunks: whether a simulation gives the same time,
        and nothing better in the next fewer and more chunks. None where there was nothing
        to confirm, or it is too large to be simulated just for that.
    """

    min_bytes: int
    max_bytes: int
    algorithm: str
    protocol: str | None
    chunks: int
    chunks_from: int
    chunks_to: int
    channels: int
    model: str
    size: int
    time_us: float
    gain: float | None
    runner_up: str | None
    lower_bound_us: float
    efficiency: float | None
    confirmed: bool | None = None


@dataclass(frozen=True, repr=False)
class Policy:
    """The answer of :func:`collsim.choose.policy.choose`.

    Parameters
    ----------
    cluster, collective, ranks
        What was asked, and where.
    min_bytes, max_bytes : int
        The sizes that it covers.
    rows : tuple of Range
        By size, without a gap.
    left_out : dict of str
        Algorithms that were not tried at any size, each with its reason.
    chunks, channels : tuple of int
        The numbers among which the best was taken.
    folded : dict of str
        Algorithms of which a few ranks were simulated in place of all, as in
        :class:`~collsim.choose.rows.Prediction`.
    slow : dict of float
        Of those left out as too slow, how many times as long as the fastest they take at
        least, at any size.
    """

    cluster: str
    collective: str
    ranks: int
    min_bytes: int
    max_bytes: int
    rows: tuple[Range, ...]
    left_out: dict[str, str]
    chunks: tuple[int, ...] = (1,)
    channels: tuple[int, ...] = (1,)
    folded: dict[str, str] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Say of what it is and how long, on one line."""
        count = f"{len(self.rows)} range{'s' * (len(self.rows) != 1)}"
        return f"<Policy {self._head()}: {count}>"

    def __str__(self) -> str:
        """Return a line for each range, for the reader.

        Examples
        --------
        >>> print(Policy("ideal", "gather", 4, 8, 16, (), {}))
        gather on 4 ranks of ideal, 8B to 16B
        """
        lines = [
            f"  from {row.min_bytes} to {row.max_bytes} B: {row.algorithm}"
            + (f", x{row.gain:.4g} over {row.runner_up}" if row.gain is not None else "")
            + f", {format_time_us(row.time_us * 1e-6)} us at {format_size(row.size, 4)}"
            for row in self.rows
        ]
        return "\n".join([self._head(), *lines])

    def _head(self) -> str:
        where = f"{self.ranks} rank{'s' * (self.ranks != 1)} of {self.cluster}"
        span = f"{format_size(self.min_bytes)} to {format_size(self.max_bytes)}"
        return f"{self.collective} on {where}, {span}"

    def at(self, nbytes: float) -> Range:
        """Return the range that a size lies in.

        Raises
        ------
        InputError
            If it covers no such size.

        Examples
        --------
        >>> Policy("ideal", "gather", 4, 8, 16, (), {}).at(7)
        Traceback (most recent call last):
        ...
        collsim.errors.InputError: size: got 7 bytes, expected 8 to 16
        """
        for row in self.rows:
            if row.min_bytes <= nbytes < row.max_bytes + 1:
                return row
        raise InputError(
            f"size: got {nbytes!r} bytes, expected {self.min_bytes} to {self.max_bytes}"
        )
