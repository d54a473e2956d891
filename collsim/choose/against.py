"""Somebody else's choice beside the best of what he has: rows of a comparison."""

from dataclasses import dataclass

__all__ = ["Comparison", "Loss"]


@dataclass(frozen=True)
class Loss:
    """A range of sizes, what the other one chooses there, and what he has that is faster.

    Parameters
    ----------
    min_bytes, max_bytes : int
        Both inclusive; the next range begins one byte above.
    nccl_algorithm, nccl_protocol : str
        What is chosen, by NCCL's names; the protocol at the middle.
    nccl_channels : int
        Its channels at the middle.
    best_algorithm : str
        The fastest of what NCCL has, by NCCL's name.
    algorithm : str
        The same by ours.
    size : int
        The geometric middle of the range.
    nccl_us, time_us : float or None
        Microseconds there of what is chosen and of the fastest; None for what is not
        simulated here.
    gain : float or None
        The former / the latter.
    most : float or None
        The largest such ratio that was seen in the range.
    most_size : int
        Where that was.
    gained : bool
        Whether it is the least that is asked for, or more, all over the range.
    doubtful : bool
        Whether it would be, but hinges on latencies of NCCL that are not known.
    """

    min_bytes: int
    max_bytes: int
    nccl_algorithm: str
    nccl_protocol: str
    nccl_channels: int
    best_algorithm: str
    algorithm: str
    size: int
    nccl_us: float | None
    time_us: float
    gain: float | None
    most: float | None
    most_size: int
    gained: bool
    doubtful: bool = False


@dataclass(frozen=True)
class Comparison:
    """NCCL's choice of one collective beside the best that it has.

    Parameters
    ----------
    collective, version : str
        Of what, and NCCL's release.
    available : tuple of str
        Our names of the algorithms that NCCL has there and that are simulated.
    min_gain : float
        The least gain that counts, as a share.
    rows : tuple of Loss
        By size, without a gap.
    origin : tuple of str
        From where NCCL's numbers are.
    """

    collective: str
    version: str
    available: tuple[str, ...]
    min_gain: float
    rows: tuple[Loss, ...]
    origin: tuple[str, ...]
