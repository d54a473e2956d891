"""One message from a rank to another, which is no collective: what ping-pong measures."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from collsim.calibrate.formula import Predicted
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.measurements import Measurement
from collsim.core.profile import Profile
from collsim.core.schedule import Schedule
from collsim.engine.simulate import simulate

__all__ = ["MESSAGE", "is_message", "message_of"]

MESSAGE: Final = "p2p"
"""The algorithm of rows of sendrecv that are of one message one way."""


def is_message(row: Measurement) -> bool:
    """Return whether a row is of one message; all_to_all is of NCCL's p2p, too.

    Examples
    --------
    >>> is_message(Measurement("sendrecv", 2, 8, 1e-6, algorithm="p2p"))
    True
    >>> is_message(Measurement("all_to_all", 8, 8, 1e-6, algorithm="p2p"))
    False
    """
    return row.algorithm == MESSAGE and row.collective == "sendrecv"


def message_of(model: Profile | Cluster, row: Measurement) -> Predicted | str:
    """Return the time of one message, to the next rank or to the next node.

    It pays no launch, which is of ranks that begin together: the messages of a ping-pong
    follow each other.

    Parameters
    ----------
    model : Profile or Cluster
        A profile has one class of links.
    row : Measurement
        Of one message; its nodes tell whether it crosses from one to another.

    Examples
    --------
    >>> cluster = Cluster.ideal(8, 1e-6, 1e9, launch=5e-6)
    >>> row = Measurement("sendrecv", 2, 1000, 2e-6, algorithm="p2p")
    >>> round(message_of(cluster, row).seconds * 1e6, 9)
    2.0
    """
    if isinstance(model, Profile):
        found = model.uniform
        if found is None:
            return "one message ran, and the profile is of several classes of links"
        return Predicted(found[0] + row.nbytes * found[1], found[0], row.nbytes * found[1])
    to = 1
    if (row.nodes or 1) > 1:
        others = [rank for rank in range(model.ranks) if model.node[rank] != model.node[0]]
        if not others:
            return f"one message between {row.nodes} nodes, and the cluster has one"
        to = others[0]
    elif model.ranks == 1 or model.node[1] != model.node[0]:
        return "one message inside a node, and the cluster has one rank in each"
    schedule, alone = _schedule(model.ranks, to), replace(model, launch=0.0)
    latency, seconds = (simulate(schedule, alone, n).makespan for n in (0, row.nbytes))
    return Predicted(seconds, latency, seconds - latency, 1, "event")


@lru_cache(64)
def _schedule(ranks: int, to: int) -> Schedule:
    """Return the schedule of the one message."""
    builder = Builder(collective("broadcast"), ranks)
    builder.next_round()
    builder.copy(0, to, builder.pieces[0])
    return builder.finish()
