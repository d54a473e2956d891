"""Rows of predictions: their attributes are the keys of the JSON output."""

from dataclasses import dataclass, field
from typing import Final

from collsim.core.cluster import Cluster
from collsim.core.collective import Collective
from collsim.core.dtype import element_size
from collsim.core.timeline import Breakdown

__all__ = ["COMPARED", "Made", "Prediction", "Row", "made_row"]

# Keys of rows that say something only where a healthy cluster was given.
COMPARED: Final = ("healthy_algorithm", "healthy_us", "change")


@dataclass(frozen=True)
class Row:
    """One predicted time; attributes are the keys of the JSON output.

    Parameters
    ----------
    size : int or float
        Bytes, n.
    count : int
        Elements, as nccl-tests counts them: of one rank's share where the buffer is
        shared out, of the whole buffer elsewhere.
    dtype, op, root
        Element type; reduction (None where nothing is reduced); root (None without one).
    algorithm, protocol, chunks, channels, model, sharing
        What was timed and how. Protocol is None unless a profile tells protocols apart.
    time_us : float
        Microseconds.
    algbw, busbw : float
        GB/s (1e9 bytes): size / time, and that times the bus-bandwidth factor; 0 for one
        rank or no time.
    alpha_us, beta_us, gamma_us, launch_us, waiting_us : float
        Parts of the time along the critical path.
    lower_bound_us : float
        No algorithm is faster on this cluster.
    efficiency : float or None
        Lower bound / time; None for 0/0.
    healthy_algorithm : str or None
        Where a healthy cluster was given: the algorithm there, which for ``"auto"`` may be
        another one.
    healthy_us, change : float or None
        Microseconds of the same question there, and the time here in multiples of that;
        None for 0/0, or where it has no answer.
    """

    size: float
    count: int
    dtype: str
    op: str | None
    root: int | None
    algorithm: str
    protocol: str | None
    chunks: int
    channels: int
    model: str
    sharing: str
    time_us: float
    algbw: float
    busbw: float
    alpha_us: float
    beta_us: float
    gamma_us: float
    launch_us: float
    waiting_us: float
    lower_bound_us: float
    efficiency: float | None
    healthy_algorithm: str | None = None
    healthy_us: float | None = None
    change: float | None = None


@dataclass(frozen=True)
class Prediction:
    """The answer of :func:`collsim.choose.predict.predict`.

    Parameters
    ----------
    cluster : str
        Name of the cluster.
    collective : str
        Canonical name.
    ranks : int
        Rank count P.
    rows : tuple of Row
        One per size; one per size and algorithm for ``algorithm="all"``.
    left_out : dict of str
        Algorithms that do not apply, each with its reason.
    folded : dict of str
        Algorithms of which a few ranks were simulated in place of all: how many, and why
        that is the same.
    """

    cluster: str
    collective: str
    ranks: int
    rows: tuple[Row, ...]
    left_out: dict[str, str]
    folded: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """What was timed, how, and the time; fields as in :class:`Row`."""

    algorithm: str
    protocol: str | None
    chunks: int
    channels: int
    model: str
    seconds: float
    parts: Breakdown


def made_row(
    kind: Collective,
    cluster: Cluster,
    size: float,
    made: Made,
    bound: float,
    dtype: str,
    op: str,
    root: int | None,
) -> Row:
    """Return a row in nccl-tests' terms; `bound` is a time that nothing is below."""
    ranks, parts = cluster.ranks, made.parts
    shared_out = ranks if kind.split else 1
    moves = ranks > 1 and made.seconds > 0
    algbw = size / made.seconds / 1e9 if moves else 0.0
    efficiency = min(1.0, bound / made.seconds) if made.seconds > 0 else None
    return Row(
        size=int(size) if float(size).is_integer() else float(size),
        count=int(size // (element_size(dtype) * shared_out)),
        dtype=dtype,
        op=op if kind.reduces else None,
        root=root,
        algorithm=made.algorithm,
        protocol=made.protocol,
        chunks=made.chunks,
        channels=made.channels,
        model=made.model,
        sharing=cluster.sharing,
        time_us=made.seconds * 1e6,
        algbw=algbw,
        busbw=algbw * kind.bus_factor(ranks),
        alpha_us=parts.alpha * 1e6,
        beta_us=parts.beta * 1e6,
        gamma_us=parts.gamma * 1e6,
        launch_us=parts.launch * 1e6,
        waiting_us=parts.waiting * 1e6,
        lower_bound_us=bound * 1e6,
        efficiency=efficiency,
    )
