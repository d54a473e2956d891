"""Turn a folded schedule on a cluster into the arrays of the event loop.

A message takes the route from its sender to its true receiver, and holds what stands for the
links and ports of that route. So on what stands for a link all those messages meet that meet
on the link itself: each of another turn, as one of every orbit.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.folded import Folded
from collsim.engine.fold.proof import Orbits
from collsim.engine.lower import Plan, lower_program
from collsim.engine.program import single

__all__ = ["lower_folded"]

IntArray = NDArray[np.int64]
Int32 = NDArray[np.int32]


def lower_folded(folded: Folded, cluster: Cluster, orbits: Orbits) -> tuple[Plan, Int32] | str:
    """Return the plan of a folded schedule, or why it can't stand for the whole.

    Parameters
    ----------
    folded : Folded
        What is to run.
    cluster : Cluster
        Where.
    orbits : Orbits
        What :func:`~collsim.engine.fold.proof.prove` returned for both.

    Returns
    -------
    Plan, int32 array
        And by how many turns each thing that a route holds is the one that stands for it
        renamed, in the order of the plan.
    """
    schedule, fold = folded.schedule, folded.fold
    program = replace(single(schedule), dst=folded.receiver)
    found: list[IntArray] = []
    refused: list[str] = []
    links = len(cluster.links)

    def standing(src: IntArray, dst: IntArray, owner: IntArray, held: IntArray) -> IntArray:
        port, rank = np.divmod(held - links, cluster.ranks)
        cable = np.minimum(held, links - 1)
        at, own = np.divmod(rank, fold.step)
        of_link = held < links
        turn = np.where(of_link, orbits.turn[cable], at)
        stands = np.where(of_link, orbits.standing[cable], links + port * cluster.ranks + own)
        lost = np.flatnonzero(of_link & ~orbits.free[cable])
        if lost.size:
            name = cluster.links.names[int(held[lost[0]])]
            refused.append(f"messages that are the same but for their ranks meet on {name}")
        found.extend((src, dst, owner, stands, turn))
        return stands

    plan = replace(lower_program(program, cluster, standing), dst=schedule.dst)
    if refused:
        return refused[0]
    _, dst, owner, stands, turn = found
    held_turn = turn[np.argsort(owner, kind="stable")].astype(np.int32)
    if plan.gamma > 0:
        # What a rank adds up goes one after the other, as over a port.
        every = np.arange(dst.size)
        at, own = np.divmod(dst, fold.step)
        last = links + 2 * cluster.ranks
        owner, stands, turn = (
            np.concatenate(pair) for pair in ((owner, every), (stands, last + own), (turn, at))
        )
    if _out_of_order(folded, plan.route, owner, stands, turn):
        return (
            "messages of one round that may tie meet on a link, and renaming ranks changes "
            "their order"
        )
    return plan, held_turn


def _out_of_order(
    folded: Folded, route: NDArray[np.int32], owner: IntArray, stands: IntArray, turn: IntArray
) -> bool:
    """Return whether messages listed at once, of different turns, meet somewhere.

    Whoever is listed first goes first in a tie. Calls are listed in their order, and within
    one those of the same turn in the order of the representatives, whatever they are renamed
    to. But of two turns, now this and now that one is listed first.
    """
    # What is held at one turn only is out of question.
    order = np.argsort(stands, kind="stable")
    ends = np.flatnonzero(np.diff(stands[order], append=-1))
    if not ends.size:
        return False
    starts = np.concatenate([[0], ends[:-1] + 1])
    several = np.minimum.reduceat(turn[order], starts) < np.maximum.reduceat(
        turn[order], starts
    )
    doubtful = np.zeros(owner.size, dtype=np.bool_)
    doubtful[order] = np.repeat(several, ends - starts + 1)
    if not doubtful.any():
        return False
    # The same question for every call: which routes hold them, and in which turn.
    owner, stands, turn = owner[doubtful], stands[doubtful], turn[doubtful]
    by_route = np.argsort(owner, kind="stable")
    owner, stands, turn = owner[by_route], stands[by_route], turn[by_route]
    ptr = np.searchsorted(owner, np.arange(int(route.max()) + 2))
    counts = np.diff(ptr)[route]
    operation = np.repeat(np.arange(route.size), counts)
    within = np.arange(operation.size) - np.repeat(np.cumsum(counts) - counts, counts)
    row = ptr[route][operation] + within
    call = np.repeat(np.arange(folded.call_ptr.size - 1), np.diff(folded.call_ptr))
    where = np.stack([call[operation], stands[row], turn[row]])
    where = where[:, np.lexsort(where[::-1])]
    same = (where[:2, 1:] == where[:2, :-1]).all(axis=0)
    return bool((same & (where[2, 1:] != where[2, :-1])).any())
