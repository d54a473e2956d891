"""Somebody else's choice beside the best of what he has: rows of a comparison."""

from dataclasses import dataclass, replace

__all__ = ["Comparison", "Loss"]


@dataclass(frozen=True)
class Loss:
    """A range of sizes, what the other one chooses there, and what he has that is faster.

    Parameters
    ----------
    min_bytes, max_bytes : int
        Both inclusive; the next range begins one byte above.
    nccl_algorithm, nccl_protocol : str
        What is chosen, by NCCL's names; the same all over the range.
    nccl_channels : int
        Its channels at `size`.
    nccl_channels_from, nccl_channels_to : int
        Its channels at the ends of the range.
    best_algorithm : str
        The fastest of what NCCL has, by NCCL's name.
    best_protocol : str
        The one in which NCCL's model has that the fastest at `size`; with fitted times the
        one that they have the fastest.
    algorithm : str
        The fastest by our name.
    size : int
        The geometric middle of the range, where times, gain and `nccl_channels` hold.
    nccl_us, time_us : float or None
        Microseconds there, simulated or fitted, of what is chosen and of the fastest; None
        for what is not simulated here.
    nccl_model_us, best_model_us : float or None
        What NCCL's own model says of both there.
    gain : float or None
        `nccl_us` / `time_us`.
    most : float or None
        The largest such ratio that was seen in the range.
    most_size : int
        Where that was.
    gained : bool
        Whether it is the least that is asked for, or more, all over the range.
    doubtful : bool
        Whether it would be, but hinges on what is not known: latencies of NCCL, or, with
        fitted times, what no row of the fit has shown.
    """

    min_bytes: int
    max_bytes: int
    nccl_algorithm: str
    nccl_protocol: str
    nccl_channels: int
    nccl_channels_from: int
    nccl_channels_to: int
    best_algorithm: str
    best_protocol: str
    algorithm: str
    size: int
    nccl_us: float | None
    time_us: float
    nccl_model_us: float | None
    best_model_us: float | None
    gain: float | None
    most: float | None
    most_size: int
    gained: bool
    doubtful: bool = False

    @property
    def model_gain(self) -> float | None:
        """What NCCL's own model says of the gain: below 1 where it has its choice faster."""
        if self.nccl_model_us is None or not self.best_model_us:
            return None
        return self.nccl_model_us / self.best_model_us


@dataclass(frozen=True)
class Comparison:
    """NCCL's choice of one collective beside the best that it has.

    Parameters
    ----------
    collective, version : str
        Of what, and NCCL's release.
    available : tuple of str
        Our names of the algorithms that NCCL has there and that are simulated; with their
        protocols where times are fitted.
    min_gain : float
        The least gain that counts, as a share.
    rows : tuple of Loss
        By size, without a gap.
    origin : tuple of str
        From where NCCL's numbers are.
    measured : bool
        Whether times are those of a machine that was measured, by a profile.
    fitted : bool
        Whether they are fitted ones, of each algorithm and protocol of NCCL's.
    by_table : bool
        Whether NCCL's choice is known, by its table; if not, the fastest is taken for it.
    held : str
        Why nothing but NCCL's choice counts, whatever is gained; empty if gains do.
    """

    collective: str
    version: str
    available: tuple[str, ...]
    min_gain: float
    rows: tuple[Loss, ...]
    origin: tuple[str, ...]
    measured: bool = False
    fitted: bool = False
    by_table: bool = True
    held: str = ""

    def best(self, row: Loss) -> str:
        """Return the name of the fastest of a row, with its protocol if times tell it."""
        protocol = f"/{row.best_protocol}" if self.fitted else ""
        return row.best_algorithm + protocol

    def changes(self, *, doubtful: bool = False) -> tuple[Loss, ...]:
        """Return where another algorithm gains, neighbours of the same two as one.

        With fitted times, algorithms with their protocols.

        Parameters
        ----------
        doubtful : bool
            Return instead where it only may.
        """
        found: list[Loss] = []
        for row in self.rows:
            if not (row.doubtful if doubtful else row.gained):
                continue
            last = found[-1] if found else None
            joins = last is not None and last.max_bytes + 1 == row.min_bytes
            if last and joins and self._both(last) == self._both(row):
                found[-1] = _joined(last, row)
            else:
                found.append(row)
        return tuple(found)

    def _both(self, row: Loss) -> tuple[str, ...]:
        names = row.nccl_algorithm, row.best_algorithm
        return (*names, row.nccl_protocol, row.best_protocol) if self.fitted else names


def _joined(one: Loss, other: Loss) -> Loss:
    """Return the row where the gain is the larger, over both ranges."""
    larger = max(one, other, key=lambda row: row.most or 0.0)
    return replace(larger, min_bytes=one.min_bytes, max_bytes=other.max_bytes)
