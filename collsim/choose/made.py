"""A row of a prediction from a time, however it was found."""

from dataclasses import dataclass

from collsim.choose.rows import Row
from collsim.core.cluster import Cluster
from collsim.core.collective import Collective
from collsim.core.dtype import element_size
from collsim.core.timeline import Breakdown

__all__ = ["Made", "made_row"]


@dataclass(frozen=True)
class Made:
    """What was timed, how, and the time; fields as in :class:`~collsim.choose.rows.Row`."""

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
