"""Whether all ranks were given the same job: what differs is said before it hangs or aborts."""

import hashlib
from typing import Any, Final

import numpy as np

from collsim.errors import UsageError
from collsim.measure.job import Job
from collsim.measure.transport import Transport

__all__ = ["agree"]

_OPTIONS: Final = {
    "what": "collectives or patterns",
    "sizes": "sizes (-s, -b, -e, -f, -i)",
    "algorithms": "--algorithm",
    "forced": "--force",
    "every_pair": "--all-pairs",
    "dtype": "element type (-d)",
    "op": "reduction (--op)",
    "root": "root (-r)",
    "chunks": "--chunks",
    "how": "-n, -w, --target or --budget",
    "graph": "-G",
    "ranks_per_gpu": "--ranks-per-gpu",
    "realtime": "--realtime",
}
"""Fields of a job that all ranks must have alike, by their options."""

_NODE: Final = "number of ranks on its node"


def agree(job: Job, local_ranks: int, transport: Transport) -> None:
    """Compare what all ranks are about to do.

    Every rank calls this, and all of them raise the same error, so that none waits for one
    that has left. The file, and whether to go on with it, is rank 0's business alone.

    Parameters
    ----------
    job : Job
        What this rank was told to measure.
    local_ranks : int
        How many ranks it believes to be on its node.
    transport : Transport
        Who asks the others.

    Raises
    ------
    UsageError
        If a rank differs from rank 0; names the rank and the options.
    """
    mine = [_digest(getattr(job, field)) for field in _OPTIONS]
    every = transport.exchange(np.array([*mine, float(local_ranks)]))
    differ = every != every[0]
    if not differ.any():
        return
    rank = int(np.flatnonzero(differ.any(axis=1))[0])
    names = [*_OPTIONS.values(), _NODE]
    which = ", ".join(name for name, other in zip(names, differ[rank], strict=True) if other)
    raise UsageError(
        f"rank {rank} was started with other options than rank 0: {which}; expected the same "
        "on all ranks"
    )


def _digest(value: Any) -> float:
    """Return a number of a value that a double holds and that is the same in every process."""
    made = hashlib.sha256(repr(value).encode()).digest()
    return float(int.from_bytes(made[:6], "big"))
