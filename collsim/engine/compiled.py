"""The same loops compiled with numba, for jobs large enough to repay loading it.

Results are equal to the last bit to those of `collsim.engine.loop` and
`collsim.core.dependencies_kernel`: the operations on floats are the same, in the same order,
and numba contracts none of them.
"""

from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from collsim.core import dependencies_kernel
from collsim.engine import fifo_kernel
from collsim.engine.jit import jit
from collsim.engine.lower import Plan
from collsim.engine.numbers_kernel import pack
from collsim.engine.waits_kernel import children

__all__ = ["CompiledLoop", "derive", "jit", "pack"]

Run = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]
"""Start, finish, and what each operation waited for; see `collsim.engine.loop.Loop.run`."""

derive = jit(dependencies_kernel.derive)

# Events that a sorted run of the queue has room for: a power of two. Two waves of all
# ranks, in so little memory that it stays in the cache.
_LEAST_ROOM: Final = 2**10
_MOST_ROOM: Final = 2**15


class CompiledLoop:
    """A plan as arrays, ready to be run at any size; see `collsim.engine.loop.Loop`.

    Parameters
    ----------
    plan : Plan
        What to run.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        n = plan.route.size
        # Memory that nobody touches costs nothing.
        self.only, self.waits = (np.zeros(n, dtype=np.int32) for _ in range(2))
        self.more = np.empty(2 * plan.dep.size, dtype=np.int32)
        first = np.empty(n, dtype=np.int32)
        lists = (self.only, self.more, self.waits, first)
        free, self.several = children(plan.dep_ptr, plan.dep, *lists)
        self.first = first[:free].copy()
        self.late = bool(plan.enter.any())
        self.widest = int(np.diff(plan.held_ptr).max(initial=0))

    def run(self, nbytes: float) -> Run:
        """Run once; see `collsim.engine.loop.Loop.run`."""
        p = self.plan.at(nbytes)
        work = self.work()
        costs = (p.alpha, p.beta, p.busy, p.adding, p.gamma, p.enter, p.held_beta)
        fifo_kernel.run(*self.given(), *costs, *work)
        start, finish, blocker, ahead = cast(Run, work[-4:])
        if p.gamma == 0:
            ahead = np.broadcast_to(np.int32(-1), blocker.shape)
        return start, finish, blocker, ahead

    def given(self) -> tuple[object, ...]:
        """Return the kernel's first arguments: what is the same at every size."""
        p, first = self.plan, self.first
        if self.late:
            first = first[np.argsort(p.enter[p.route[first]], kind="stable")]
        alike = p.size.strides == (0,)
        pieces, every = (p.size[:1].copy(), 0) if alike else (p.size, -1)
        single = np.where(np.diff(p.lane_ptr) == 1, p.lane_ptr[:-1], -1)[p.held]
        routes = (p.held_ptr, p.held, p.lane_ptr, single)
        return (
            *(pieces, every, p.route, p.reduces, p.dst, *routes),
            *(self.only, self.more, self.late, first),
        )

    def work(self) -> tuple[NDArray[np.generic], ...]:
        """Return the kernel's last arguments, ready for one run; the last four come out."""
        n, ranks, lanes = self.waits.size, self.plan.ranks, int(self.plan.lane_ptr[-1])
        runs = fifo_kernel.RUNS
        room = min(max(1 << (2 * ranks).bit_length(), _LEAST_ROOM), _MOST_ROOM)
        waits = self.waits.copy() if self.several else self.waits
        finish = np.zeros(n) if self.several else np.empty(n)
        return (
            *(waits, np.zeros(lanes), np.full(lanes, -1, dtype=np.int32)),
            np.empty(self.widest, dtype=np.int64),
            *(np.zeros(ranks), np.full(ranks, -1, dtype=np.int32)),
            *(np.empty(runs * room), np.empty(runs * room, dtype=np.int64)),
            *(np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)),
            *(np.empty(runs + 2), np.empty(runs + 2, dtype=np.int64)),
            # The heap, which only the events use that fit into no run.
            *(np.empty(n + 1), np.empty(n + 1, dtype=np.int64)),
            *(np.empty(n), finish, np.empty(n, dtype=np.int32)),
            np.full(n if self.plan.gamma > 0 else 1, -1, dtype=np.int32),
        )
