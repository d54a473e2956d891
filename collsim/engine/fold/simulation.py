"""Run a folded schedule: the times of a few ranks are those of all."""

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.folded import Folded
from collsim.core.timeline import Breakdown, Timeline
from collsim.engine.fold.lower import lower_folded
from collsim.engine.fold.proof import Orbits, prove
from collsim.engine.fold.walk import meet, walk
from collsim.engine.simulation import (
    Outcome,
    Simulation,
    check_nbytes,
    check_sharing,
    costs_of,
    large,
    loop_of,
    timeline,
)
from collsim.errors import InputError

__all__ = ["FoldedSimulation", "NotFoldedError"]


class NotFoldedError(InputError):
    """A schedule on a cluster that are not the same for all ranks; says why."""


class FoldedSimulation(Simulation):
    """A folded schedule on a cluster, prepared once and run at any number of sizes.

    Times are those of the whole to the last bit. Timelines are those of the operations that
    representatives send.

    Parameters
    ----------
    folded : Folded
        What to run.
    cluster : Cluster
        Where; of the rank count of the whole.
    compiled : bool, optional
        As in :class:`~collsim.engine.simulation.Simulation`.
    orbits : Orbits, optional
        What :func:`~collsim.engine.fold.proof.prove` returned, if it was asked before.

    Raises
    ------
    NotFoldedError
        If it can't be shown that all ranks do the same at the same time.

    Examples
    --------
    >>> from collsim.algorithms import build, build_folded
    >>> from collsim.core.symmetry import Fold
    >>> cluster = Cluster.load("dgx-h100", nodes=4)
    >>> whole = Simulation(build("all_reduce", "ring", 32, node=cluster.node), cluster)
    >>> few = build_folded("all_reduce", "ring", Fold("shift", 32, 8), node=cluster.node)
    >>> folded = FoldedSimulation(few, cluster)
    >>> len(folded.schedule), len(whole.schedule)
    (496, 1984)
    >>> folded.makespan(1e6) == whole.makespan(1e6)
    True
    """

    def __init__(
        self,
        folded: Folded,
        cluster: Cluster,
        compiled: bool | None = None,
        orbits: Orbits | None = None,
    ) -> None:
        schedule = folded.schedule
        if schedule.ranks != cluster.ranks:
            raise InputError(
                f"schedule: made for {schedule.ranks} ranks, but cluster {cluster.name!r} "
                f"has {cluster.ranks}"
            )
        if check_sharing(cluster.sharing) == "fair":
            raise NotFoldedError("links are shared fairly, which is simulated for all ranks")
        proof = prove(cluster, folded.fold) if orbits is None else orbits
        found = proof if isinstance(proof, str) else lower_folded(folded, cluster, proof)
        if isinstance(found, str):
            raise NotFoldedError(found)
        plan, self._held_turn = found
        self.folded = folded
        self.schedule = schedule
        self.cluster = cluster
        self.plan = plan
        self.fair = False
        self.compiled = large(len(schedule), False) if compiled is None else compiled
        self.loop = loop_of(plan, False, self.compiled)
        self.entered = 0.0 if cluster.delay is None else float(cluster.delay.max())

    @property
    def _shifts(self) -> int:
        """Number of turns of a shift; 0 for XOR, where turns don't add up."""
        fold = self.folded.fold
        return fold.turns if fold.kind == "shift" else 0

    def run(self, nbytes: float, outcome: Outcome | None = None) -> Timeline:
        """Return the timeline of what representatives send at a size in bytes."""
        nbytes = check_nbytes(nbytes)
        outcome = self.loop.run(nbytes) if outcome is None else outcome
        plan, schedule = costs_of(self.loop, nbytes), self.schedule
        names = schedule.src, schedule.dst, self.folded.turn, self._shifts
        held = plan.route, plan.held_ptr, plan.held, plan.held_beta, self._held_turn
        costs = plan.size, plan.busy, outcome[0]

        def common(o: int, holder: int) -> bool:
            return bool(meet(o, holder, *names, *held, *costs))  # type: ignore[no-untyped-call]

        entered = plan.rounded(self.entered)
        return timeline(
            schedule, nbytes, plan, outcome, entered, shared=False, in_common=common
        )

    def timed(self, nbytes: float, outcome: Outcome | None = None) -> tuple[float, Breakdown]:
        """Return the time in seconds at a size in bytes, and where it goes.

        The steps of the path are not kept: a ring has as many as ranks.
        """
        outcome = self.loop.run(check_nbytes(nbytes)) if outcome is None else outcome
        plan = costs_of(self.loop, nbytes)
        start, finish, blocker, ahead = (np.asarray(column) for column in outcome)
        last = int(finish.argmax()) if finish.size else -1
        entered = plan.rounded(self.entered)
        if last < 0 or finish[last] < entered:
            return plan.launch + entered, Breakdown(launch=plan.launch, waiting=entered)
        schedule, parts = self.schedule, np.zeros(4)
        arrays = (
            schedule.src, schedule.dst, schedule.dep_ptr, schedule.dep, plan.route, plan.size,
            plan.alpha, plan.beta, plan.busy, plan.adding, plan.enter,
            start, finish, blocker, ahead,
            self.folded.turn, self._shifts, plan.held_ptr, plan.held, plan.held_beta,
            self._held_turn,
        )  # fmt: skip
        if self.compiled:
            from collsim.engine.fold.compiled import walk as compiled_walk

            compiled_walk(*arrays, last, parts)
        else:
            walk(*arrays, last, parts)  # type: ignore[no-untyped-call]
        alpha, beta, gamma, waiting = parts.tolist()
        seconds = plan.launch + float(finish[last])
        return seconds, Breakdown(alpha, beta, gamma, plan.launch, waiting)
