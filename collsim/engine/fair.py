"""Messages that share links fairly: what a plan costs, and the loop ready to be run.

A message whose data are there first waits for its alpha, using no bandwidth. Then it is a
flow over all links and ports of its route, at its max-min fair share of them: no flow can
get more unless one that has no more than it gets less. A link of k lanes has k times the
bandwidth in all, and one flow gets at most one lane's. Rates are constant between the
times at which flows begin or end.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from collsim.engine import fair_kernel
from collsim.engine.lower import Plan, grid

__all__ = ["COMPILE_FROM", "FairLoop", "Log"]

# Operations from which loading the compiled loop is repaid by one run.
COMPILE_FROM: Final = 5_000

# Bits of a time below the estimate of the whole. Shares are rounded where fifo's sums
# are not, so the grid is 2^5 times as coarse, and no point of it is missed.
_BITS: Final = 46

# Changes of rates: operation, time and new rate in pieces per second.
Log = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


class FairLoop:
    """A plan under fair sharing, ready to be run at any size.

    Parameters
    ----------
    plan : Plan
        What to run.
    compiled : bool
        Whether to use the compiled loop; the results are the same to the last bit.
    release : float array, shape (N,), optional
        Seconds after the launch before which each operation does not start.
    """

    def __init__(
        self, plan: Plan, compiled: bool = False, release: NDArray[np.float64] | None = None
    ) -> None:
        self.plan = plan
        self.compiled = compiled
        self.release = np.zeros(plan.route.size) if release is None else release
        n, links = plan.route.size, plan.lane_ptr.size - 1
        self.waits = np.diff(plan.dep_ptr).astype(np.int64)
        by_parent = np.argsort(plan.dep, kind="stable")
        self.child = np.repeat(np.arange(n), self.waits)[by_parent]
        self.child_ptr = _pointers(np.bincount(plan.dep, minlength=n))
        # A node is one operation's place among the flows of one link.
        counts = np.diff(plan.held_ptr)[plan.route]
        self.node_ptr = _pointers(counts)
        self.owner = np.repeat(np.arange(n), counts)
        offset = np.repeat(plan.held_ptr[plan.route] - self.node_ptr[:-1], counts)
        self.way = plan.held[np.arange(self.owner.size) + offset]
        self.base = _pointers(np.bincount(self.way, minlength=links))
        # The busiest link, and the busiest reducer, take at least so long per byte.
        routes = plan.held_ptr.size - 1
        on_route = np.bincount(plan.route, weights=plan.size, minlength=routes)
        load = np.repeat(on_route, np.diff(plan.held_ptr)) * plan.held_beta
        on_link = np.bincount(plan.held, weights=load, minlength=links)
        reduced = np.bincount(plan.dst, weights=plan.size * plan.reduces, minlength=1)
        self.busiest = (
            float((on_link / np.diff(plan.lane_ptr)).max(initial=0.0))
            + float(reduced.max(initial=0.0)) * plan.gamma
        )

    def _step(self, nbytes: float) -> float:
        """Return the grid of times: no time moves by more than 1e-14 of the whole a step."""
        plan = self.plan
        slowest = float(plan.beta.max(initial=0.0)) + plan.gamma
        startups = plan.rounds * float(plan.alpha.max(initial=0.0))
        per_byte = plan.piece * (plan.in_turn * slowest + self.busiest)
        late = float(self.release.max(initial=0.0))
        return grid(late + startups + nbytes * per_byte, _BITS)

    def costs(self, nbytes: float) -> Plan:
        """Return the plan with the costs of one size; start-ups hold nothing."""
        return self.plan.on_grid(nbytes, self._step(nbytes))

    def run(self, nbytes: float) -> tuple[list[float], list[float], list[int], list[int]]:
        """Run once.

        Parameters
        ----------
        nbytes : float
            Size of the buffer, n, in bytes.

        Returns
        -------
        start, finish : list of float
            Seconds after the launch, per operation; it starts when its data are there.
        blocker, ahead : list of int
            As in `collsim.engine.loop.Loop.run`; nobody ever holds a start up.
        """
        start, finish, ahead, _ = self._run(nbytes, 0)
        return start, finish, [-1] * len(start), ahead

    def logged(self, nbytes: float) -> Log:
        """Run once and return every change of a rate, in the order of time.

        Parameters
        ----------
        nbytes : float
            Size of the buffer, n, in bytes.
        """
        room = 4 * len(self.plan.route)
        while True:
            *_, (logged, log) = self._run(nbytes, room)
            if logged <= room:
                op, time, rate = (np.asarray(column)[:logged] for column in log)
                return op.astype(np.int64), time.astype(np.float64), rate.astype(np.float64)
            room = logged

    def _run(self, nbytes: float, room_in_log: int) -> tuple[Any, Any, Any, Any]:
        plan = self.costs(nbytes)
        n, links, nodes = plan.route.size, plan.lane_ptr.size - 1, self.owner.size
        room, cap, capped = _limits(plan)
        step = self._step(nbytes)
        release = np.rint(self.release / step) * step
        kernel: Callable[..., int] = fair_kernel.run
        if self.compiled:
            from collsim.engine import fair_compiled

            kernel = fair_compiled.run

        def given(*arrays: NDArray[Any]) -> list[Any]:
            return [array.copy() if self.compiled else array.tolist() for array in arrays]

        def ints(size: int, value: int = 0) -> Any:
            return np.full(size, value, dtype=np.int64) if self.compiled else [value] * size

        def floats(size: int) -> Any:
            return np.zeros(size) if self.compiled else [0.0] * size

        start, finish, ahead = floats(n), floats(n), ints(n)
        log = (ints(room_in_log), floats(room_in_log), floats(room_in_log))
        count = kernel(
            step,
            plan.gamma,
            *given(plan.size, plan.route, plan.reduces, plan.dst, plan.alpha, plan.adding),
            *given(room, cap, capped, self.node_ptr, self.way, self.owner, self.base),
            *given(self.child_ptr, self.child, self.waits, release),
            *(ints(n), ints(n), floats(n), ints(n)),  # order, where, when, turn
            *(floats(n), floats(n), floats(n)),  # rate, left, since
            *(ints(nodes), ints(nodes), ints(links)),  # members, spot, count
            *(ints(links), ints(links)),  # alive, alive_at
            *(ints(links), ints(n), ints(links), ints(n)),  # mark, met, reach, flow
            *(ints(n), ints(n), ints(n), floats(n)),  # listed, seq, begun, fresh
            *(floats(nodes), floats(links), ints(links)),  # before, free, users
            *(floats(n + links + 1), ints(n + links + 1)),  # keys, codes
            *(floats(plan.ranks), ints(plan.ranks, -1)),  # reducer_free, reducer_last
            *(start, finish, ahead),
            *log,
        )
        return start, finish, ahead, (count, log)


def _pointers(counts: NDArray[Any]) -> NDArray[np.int64]:
    pointers = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=pointers[1:])
    return pointers


def _limits(plan: Plan) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return links' rates over all lanes, routes' rates, and where the latter are the less.

    Rates are in pieces per second.
    """
    beta = np.zeros(plan.lane_ptr.size - 1)
    beta[plan.held] = plan.held_beta
    with np.errstate(divide="ignore"):
        room = np.diff(plan.lane_ptr) / beta
        cap = 1.0 / plan.beta
    least = np.full(plan.beta.size, np.inf)
    np.minimum.at(
        least, np.repeat(np.arange(least.size), np.diff(plan.held_ptr)), room[plan.held]
    )
    return room, cap, cap < least
