"""What the network cards of a node can carry: a bound on times that no row has shown."""

import numpy as np

from collsim.calibrate.nccl_model.batch import Floats, Group
from collsim.calibrate.nccl_model.prior import REDUCES
from collsim.calibrate.nccl_model.tree import crossings

__all__ = ["least_seconds"]


def least_seconds(at: Group, beyond: tuple[int, int]) -> Floats:
    """Return the seconds that the busiest node's bytes take through its cards, or 0.

    With P ranks on N nodes of g and n bytes, a node sends in a ring K n/P (K steps; n where the
    array is passed on whole), in two trees n on two nodes and up to 2 n on more, and to peers
    g (P - g) n/P. The cards are as fast as NCCL reckons them.

    Parameters
    ----------
    at : Group
        Cases of one formula.
    beyond : tuple of int
        Fewest and most nodes of the rows of a fit, within which the fit itself tells.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model.batch import Case, batch_of
    >>> from collsim.calibrate.nccl_model.system import Selector, System
    >>> system = System("hopper", 12, 360.0, inter_bus=400.0)
    >>> cases = [Case("all_reduce", 8 * n, n, 2e9, "tree", "simple") for n in (2, 4)]
    >>> (group,) = batch_of(system, cases, Selector()).groups
    >>> least_seconds(group, (2, 2)).tolist(), least_seconds(group, (8, 8)).tolist()
    ([0.0, 0.01], [0.005, 0.01])
    """
    if not at.several:
        return np.zeros(np.shape(at.nbytes))
    gpus = at.ranks / at.nodes
    if at.algorithm == "p2p":
        sent = gpus * (at.ranks - gpus) * at.nbytes / at.ranks
    elif at.algorithm in ("tree", "nvls_tree"):
        sent = crossings(at.nodes) * at.nbytes
    elif at.collective in REDUCES:
        copies, reduces = REDUCES[at.collective]
        sent = (copies + reduces) * (at.ranks - 1) * at.nbytes / at.ranks
    else:
        sent = at.nbytes
    told = (at.nodes == 1) | ((at.nodes >= beyond[0]) & (at.nodes <= beyond[1]))
    found: Floats = np.where(told, 0.0, sent / (at.system.inter_bus * 1e9))
    return found
