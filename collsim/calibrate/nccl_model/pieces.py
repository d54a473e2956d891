"""What each algorithm and protocol of NCCL costs, from the counts of its schedule.

With P ranks on N nodes of g, n bytes, c = n/P, and K steps of which K_c copy and K_r reduce:
(P - 1) times (1, 1) for all_reduce, (1, 0) for all_gather, (0, 1) for reduce_scatter.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from collsim.calibrate.nccl_model.batch import Batch, Floats, Group, Values
from collsim.calibrate.nccl_model.carried import least_seconds
from collsim.calibrate.nccl_model.p2p import peer_to_peer
from collsim.calibrate.nccl_model.ring import ring
from collsim.calibrate.nccl_model.switch import nvls, nvls_tree
from collsim.calibrate.nccl_model.tree import pat, tree

__all__ = ["PIECES", "seconds"]

PIECES: Final[dict[str, Callable[[Values, Group], Floats]]] = {
    "ring": ring,
    "tree": tree,
    "nvls": nvls,
    "nvls_tree": nvls_tree,
    "pat": pat,
    "p2p": peer_to_peer,
}


def seconds(
    values: Values, batch: Batch, trials: int = 1, beyond: tuple[int, int] | None = None
) -> Floats:
    """Return the time of every case, a row for each trial of parameters.

    On fewer or more nodes than `beyond` says, no time is less than a node's cards take.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model.batch import Case, batch_of
    >>> from collsim.calibrate.nccl_model.prior import priors
    >>> from collsim.calibrate.nccl_model.system import Selector, System
    >>> system = System("ampere", 12, 240.0)
    >>> known = priors(system, [8], ["all_gather"])
    >>> values = {key: np.array([[prior.centre]]) for key, prior in known.items()}
    >>> batch = batch_of(system, [Case("all_gather", 8, 1, 2**30)], Selector())
    >>> (seconds(values, batch) * 1e3).round(2).tolist()
    [[4.51]]
    """
    found = np.full((trials, batch.count), np.inf)
    for group in batch.groups:
        time = PIECES[group.algorithm](values, group)
        if beyond is not None:
            time = np.maximum(time, least_seconds(group, beyond))
        found[:, group.where] = np.minimum(found[:, group.where], time)
    return found
