"""The event loop in plain Python: the reference, and what small jobs run on.

Events are admissions of messages and, where reductions take time, arrivals. At equal
times arrivals come first, so that all data that are there are counted before a message
is admitted; equal events go by operation index.
"""

from heapq import heapify, heappop, heappush
from itertools import pairwise

from collsim.engine.lower import Plan

__all__ = ["Loop"]


class Loop:
    """A plan as Python lists, ready to be run at any size.

    Parameters
    ----------
    plan : Plan
        What to run.
    """

    def __init__(self, plan: Plan) -> None:
        n = plan.route.size
        self.plan = plan
        self.ranks = plan.ranks
        self.size = plan.size.tolist()
        self.route = plan.route.tolist()
        self.dst = plan.dst.tolist()
        self.reduces = plan.reduces.tolist()
        ptr, lane = plan.held_ptr.tolist(), plan.lane_ptr.tolist()
        self.lanes = lane[-1]
        held = [(lane[h], lane[h + 1]) for h in plan.held.tolist()]
        self.held = [slice(i, j) for i, j in pairwise(ptr)]
        self.held_lanes = [held[one] for one in self.held]
        dep_ptr, dep = plan.dep_ptr.tolist(), plan.dep.tolist()
        self.waits = [j - i for i, j in pairwise(dep_ptr)]
        self.children: list[list[int]] = [[] for _ in range(n)]
        for o in range(n):
            for d in dep[dep_ptr[o] : dep_ptr[o + 1]]:
                self.children[d].append(o)

    def run(self, nbytes: float) -> tuple[list[float], list[float], list[int], list[int]]:
        """Run once.

        Parameters
        ----------
        nbytes : float
            Size of the buffer, n, in bytes.

        Returns
        -------
        start, finish : list of float
            Seconds after the launch, per operation.
        blocker, ahead : list of int
            Per operation, the one that held what its start had to wait for, and the one
            whose reduction came just before its own; -1 where there was none.
        """
        n = len(self.route)
        plan = self.plan.at(nbytes)
        adding, hold = plan.adding.tolist(), plan.held_beta.tolist()
        costs = zip(plan.alpha.tolist(), plan.beta.tolist(), plan.busy.tolist(), strict=True)
        routes = [
            (*cost, lanes, hold[one])
            for cost, lanes, one in zip(costs, self.held_lanes, self.held, strict=True)
        ]
        start, finish = [0.0] * n, [0.0] * n
        blocker, ahead = [-1] * n, [-1] * n
        ready = plan.enter[plan.route].tolist()
        waits = self.waits.copy()
        free, holder = [0.0] * self.lanes, [-1] * self.lanes
        reducer_free, reducer_last = [0.0] * self.ranks, [-1] * self.ranks
        # An event is (time, code): code below n is the arrival of operation `code`, the
        # others the admission of operation `code - n`.
        events = [(ready[o], n + o) for o in range(n) if waits[o] == 0]
        heapify(events)
        while events:
            now, code = heappop(events)
            if code >= n:
                o = code - n
                alpha, beta, busy, held, hold = routes[self.route[o]]
                size = self.size[o]
                begin = now
                mine = []
                for (first, end), hold_beta in zip(held, hold, strict=True):
                    lane = first
                    if end - first > 1:
                        for other in range(first + 1, end):
                            if free[other] < free[lane]:
                                lane = other
                    if free[lane] > begin:
                        begin = free[lane]
                        blocker[o] = holder[lane]
                    mine.append((lane, hold_beta))
                for lane, hold_beta in mine:
                    free[lane] = begin + (busy + size * hold_beta)
                    holder[lane] = o
                start[o] = begin
                done = begin + (alpha + size * beta)
                if self.reduces[o] and plan.gamma > 0.0:
                    finish[o] = done
                    heappush(events, (done, o))
                    continue
            else:
                o = code
                rank = self.dst[o]
                begin = now
                if reducer_free[rank] > begin:
                    begin = reducer_free[rank]
                    ahead[o] = reducer_last[rank]
                done = begin + self.size[o] * adding[self.route[o]]
                reducer_free[rank] = done
                reducer_last[rank] = o
            finish[o] = done
            for child in self.children[o]:
                ready[child] = max(ready[child], done)
                waits[child] -= 1
                if waits[child] == 0:
                    heappush(events, (ready[child], n + child))
        return start, finish, blocker, ahead
