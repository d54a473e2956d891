"""The same loops compiled with numba, for jobs large enough to repay loading it.

Results are equal to the last bit to those of `collsim.engine.loop` and
`collsim.core.depend`: the operations on floats are the same, in the same order,
and numba contracts none of them.
"""

import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from collsim.core import depend
from collsim.engine import queues
from collsim.engine.lower import Plan

__all__ = ["CompiledLoop", "derive", "jit"]


_numba_config: Any = numba.config


def _private_folder() -> str | None:
    """Return a cache folder among the temporary files that nobody else can write to.

    Compiled code is loaded from it, so a folder that someone else made is not used.
    """
    folder = os.path.join(tempfile.gettempdir(), f"collsim-numba-{os.getuid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return folder if mine and not found.st_mode & 0o022 else None


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with an on-disk cache, wherever one can be kept.

    numba keeps it beside the source or in the user's cache folder; where neither can be
    written (a read-only site-packages and no home), in the folder for temporary files;
    where even that fails, nowhere.
    """
    compiled: Callable[..., Any]
    try:
        compiled = numba.njit(cache=True)(function)
    except RuntimeError:
        before, folder = _numba_config.CACHE_DIR, _private_folder()
        try:
            _numba_config.CACHE_DIR = folder or before
            compiled = numba.njit(cache=folder is not None)(function)
        finally:
            _numba_config.CACHE_DIR = before
    return compiled


derive = jit(depend.derive)
_push = jit(queues.push)
_pop = jit(queues.pop)


@jit
def _children(dep_ptr: Any, dep: Any, head: Any, following: Any, waits: Any) -> None:
    n = head.size
    for o in range(n):
        head[o] = -1
    for o in range(n - 1, -1, -1):
        waits[o] = dep_ptr[o + 1] - dep_ptr[o]
        for k in range(dep_ptr[o], dep_ptr[o + 1]):
            following[k] = head[dep[k]]
            head[dep[k]] = k


@jit
def _run(
    pieces: Any,
    route: Any,
    reduces: Any,
    dst: Any,
    alpha: Any,
    beta: Any,
    busy: Any,
    adding: Any,
    enter: Any,
    held_ptr: Any,
    held: Any,
    held_beta: Any,
    lane_ptr: Any,
    owner: Any,
    head: Any,
    following: Any,
    waits: Any,
    free: Any,
    holder: Any,
    reducer_free: Any,
    reducer_last: Any,
    times: Any,
    codes: Any,
    start: Any,
    finish: Any,
    blocker: Any,
    ahead: Any,
) -> None:
    # `finish` holds the time at which an operation's data are there until it has run.
    n = route.size
    size = 0
    for o in range(n):
        finish[o] = enter[route[o]]
        blocker[o] = -1
        if waits[o] == 0:
            size = _push(times, codes, size, finish[o], n + o)
    lanes_of = np.empty(64, dtype=np.int64)
    while size > 0:
        now = times[0]
        code = codes[0]
        size = _pop(times, codes, size)
        if code >= n:
            o = code - n
            q = route[o]
            carried = pieces[o]
            begin = now
            low = held_ptr[q]
            high = held_ptr[q + 1]
            for k in range(low, high):
                first = lane_ptr[held[k]]
                end = lane_ptr[held[k] + 1]
                lane = first
                for other in range(first + 1, end):
                    if free[other] < free[lane]:
                        lane = other
                if free[lane] > begin:
                    begin = free[lane]
                    blocker[o] = holder[lane]
                lanes_of[k - low] = lane
            for k in range(low, high):
                lane = lanes_of[k - low]
                free[lane] = begin + (busy[q] + carried * held_beta[k])
                holder[lane] = o
            start[o] = begin
            done = begin + (alpha[q] + carried * beta[q])
            if reduces[o] and adding[q] > 0.0:
                size = _push(times, codes, size, done, o)
                continue
        else:
            o = code
            rank = dst[o]
            begin = now
            if reducer_free[rank] > begin:
                begin = reducer_free[rank]
                ahead[o] = reducer_last[rank]
            done = begin + pieces[o] * adding[route[o]]
            reducer_free[rank] = done
            reducer_last[rank] = o
        finish[o] = done
        k = head[o]
        while k != -1:
            child = owner[k]
            finish[child] = max(finish[child], done)
            waits[child] -= 1
            if waits[child] == 0:
                size = _push(times, codes, size, finish[child], n + child)
            k = following[k]


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
        self.head = np.empty(n, dtype=np.int32)
        self.following = np.empty(plan.dep.size, dtype=np.int32)
        self.waits = np.empty(n, dtype=np.int32)
        _children(plan.dep_ptr, plan.dep, self.head, self.following, self.waits)
        self.owner = np.repeat(np.arange(n, dtype=np.int32), np.diff(plan.dep_ptr))
        widest = int(np.diff(plan.held_ptr).max(initial=0))
        if widest > 64:
            raise ValueError(
                f"a route holds {widest} links and ports, at most 64 are supported"
            )

    def run(
        self, nbytes: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """Run once; see `collsim.engine.loop.Loop.run`."""
        p = self.plan.at(nbytes)
        n = p.route.size
        start, finish = np.empty(n), np.empty(n)
        blocker = np.empty(n, dtype=np.int32)
        ahead = np.full(n if p.gamma > 0 else 1, -1, dtype=np.int32)
        lanes = int(p.lane_ptr[-1])
        _run(
            p.size,
            p.route,
            p.reduces,
            p.dst,
            p.alpha,
            p.beta,
            p.busy,
            p.adding,
            p.enter,
            p.held_ptr,
            p.held,
            p.held_beta,
            p.lane_ptr,
            self.owner,
            self.head,
            self.following,
            self.waits.copy(),
            np.zeros(lanes),
            np.full(lanes, -1, dtype=np.int32),
            np.zeros(p.ranks),
            np.full(p.ranks, -1, dtype=np.int32),
            np.empty(n + 1),
            np.empty(n + 1, dtype=np.int64),
            start,
            finish,
            blocker,
            ahead,
        )
        return start, finish, blocker, ahead if p.gamma > 0 else np.full(n, -1, dtype=np.int32)
