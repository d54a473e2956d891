"""NCCL's choice beside the fastest of what NCCL has, in simulated time."""

from typing import Final

from collsim.choose.against import Comparison, Loss
from collsim.choose.curve import Curve, Model
from collsim.choose.policy import choose
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.errors import InputError
from collsim.interop.nccl_tuner.names import NCCL_OF, OUR_NAME, available
from collsim.interop.nccl_tuner.pair import Pair, verdict_of
from collsim.interop.nccl_tuner.ranges import Own
from collsim.nccl import Tuning

__all__ = ["MIN_GAIN", "against", "least_gain"]

# A gain of less is not worth a line of its own.
MIN_GAIN: Final = 0.03
# Without a profile, times come of datasheets, which are off by 15 to 30 %: estimates with the
# constants of NCCL's model miss public tables of H100, A100 and B200 by a median of 16 to 28 %.
# So a smaller gain may be none.
_NO_PROFILE: Final = 0.30


def least_gain(measured: bool) -> float:
    """Return the least gain that counts where nobody says: more if nothing was measured.

    Examples
    --------
    >>> least_gain(measured=True), least_gain(measured=False)
    (0.03, 0.3)
    """
    return MIN_GAIN if measured else _NO_PROFILE


def against(
    collective_name: str,
    cluster: Cluster,
    table: Tuning,
    *,
    min_bytes: int = 8,
    max_bytes: int = 2**33,
    min_gain: float | None = None,
    bytes_only: bool = False,
    root: int = 0,
    model: Model = "auto",
) -> Comparison:
    """Compare NCCL's choice with the fastest of what it has.

    Parameters
    ----------
    collective_name : str
        One of the five that NCCL chooses an algorithm for, in any spelling.
    cluster : Cluster
        Where it runs.
    table : Tuning
        NCCL's model there.
    min_bytes, max_bytes : int
        Sizes, both inclusive.
    min_gain : float
        The least gain that counts, as a share; by default 0.03, or 0.3 where latencies are
        not known: then times come of datasheets, which are off by as much.
    bytes_only : bool
        Whether the latencies of NCCL's algorithms are not known, as without a profile that
        was measured. Then only what bytes decide counts: a gain is one if NCCL's choice took
        no time but its bytes', and the other one NCCL's own latency on top.
    root, model
        As for :func:`collsim.choose.policy.choose`.

    Examples
    --------
    >>> from collsim.nccl import communicator, tuning
    >>> cluster = Cluster.load("dgx-h100", gpus_per_node=4)
    >>> found = against("broadcast", cluster, tuning(communicator(cluster)))
    >>> [(row.nccl_algorithm, row.nccl_protocol, row.gain) for row in found.rows]
    [('ring', 'll', 1.0), ('ring', 'simple', 1.0)]
    """
    name = collective(collective_name).name
    theirs = [a for a in available(table, name) if a in OUR_NAME]
    ours = [OUR_NAME[a] for a in theirs]
    if not ours:
        raise InputError(f"{name}: NCCL has no algorithm there that is simulated here")
    policy = choose(
        name, cluster, min_bytes=min_bytes, max_bytes=max_bytes, algorithms=ours, root=root,
        model=model,
    )  # fmt: skip
    least = least_gain(not bytes_only) if min_gain is None else min_gain
    curves = {a: Curve(name, OUR_NAME[a], cluster, root=root, model=model) for a in theirs}
    pair = Pair(Own(table, name), curves, least, bytes_only)
    rows: list[Loss] = []
    for part in policy.rows:
        best = NCCL_OF[part.algorithm.partition(":")[0]]
        for row in pair.compared(part.min_bytes, part.max_bytes, best):
            if rows and _alike(rows[-1], row):
                row = pair.row(rows[-1].min_bytes, row.max_bytes, row, rows[-1])  # noqa: PLW2901
                rows.pop()
            rows.append(row)
    origin = table.comm.origin
    return Comparison(
        name, table.version, tuple(ours), least, tuple(rows), origin, measured=not bytes_only
    )


def _alike(one: Loss, other: Loss) -> bool:
    return _said(one) == _said(other)


def _said(row: Loss) -> tuple[str, ...]:
    return row.nccl_algorithm, row.nccl_protocol, row.best_algorithm, verdict_of(row)
