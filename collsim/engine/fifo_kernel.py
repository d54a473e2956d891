"""The event loop of fifo, compiled: one pass over all events, in order of time.

Equal to the last bit to `collsim.engine.loop`: the operations on floats are the same, in
the same order. What differs is the queue. Events come in waves whose order is nearly that
in which they are found, so they are kept as a few sorted runs: a new event goes to the end
of the first run that it does not come before, or else to a heap. The next event is the
least of the fronts, so the order is exact whatever the events are like, and costs a few
steps a message where a heap alone would cost its depth.
"""

# ruff: noqa: C901, PLR0912, PLR0915, PLR1730
# Loops that are run millions of times.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from math import inf
from typing import Final

from collsim.engine import queues
from collsim.engine.jit import jit

__all__ = ["RUNS", "run"]

# Sorted runs; after them the heap, and the operations that wait for nobody.
RUNS: Final = 4
_HEAP: Final = RUNS
_FIRST: Final = RUNS + 1


_push, _pop = jit(queues.push), jit(queues.pop)


@jit
def run(
    pieces, every, route, reduces, dst, held_ptr, held, lane_ptr, single, only, more,
    late, first,
    alpha, beta, busy, adding, gamma, enter, held_beta,
    waits, free, holder, lanes_of, reducer_free, reducer_last,
    run_time, run_code, begin, end, head_time, head_code, times, codes,
    start, finish, blocker, ahead,
):  # fmt: skip
    """Run once; see `collsim.engine.loop.Loop.run` for what comes out.

    Parameters
    ----------
    pieces, every : float array, int
        Pieces of each operation, and -1; or those of all, and 0.
    single : int array, shape (K,)
        The lane of what is held, where it has one alone, else -1.
    only, more, waits : int arrays
        As :func:`collsim.engine.waits_kernel.children` leaves them. `waits` is counted down.
    late : bool
        Whether any rank enters late.
    first : int array
        Operations that wait for nobody, in the order of (time they have entered, index).
    free, reducer_free : float arrays, filled with 0
        Of every lane, and of every rank that adds up, when it is free.
    lanes_of : workspace
        Room for a lane of each link and port that a route holds.
    run_time, run_code : workspace
        The sorted runs; room for a power of two in each.
    finish : float array, shape (N,), filled with 0 if any operation waits for several
        Until such a one has run, the time at which the data are there that have come.
    blocker, ahead : int array
        The latter filled with -1, and short where nothing takes time to reduce.

    Returns
    -------
    int
        How many events came before the last ones of all runs, and went to the heap.
    """
    # An event is (time, code): code below n is the arrival of operation `code`, the
    # others the admission of operation `code - n`.
    n = route.size
    room = run_time.size // RUNS
    size = 0
    heaped = 0
    entered = 0
    for f in range(RUNS + 2):
        head_time[f] = inf
        head_code[f] = 2 * n
    if first.size > 0:
        head_time[_FIRST] = enter[route[first[0]]]
        head_code[_FIRST] = n + first[0]
    while True:
        # The source of the next event, and the least of all others, up to which it leads.
        best = 0
        now = head_time[0]
        code = head_code[0]
        next_time = inf
        next_code = 2 * n
        for f in range(1, RUNS + 2):
            time = head_time[f]
            if time < now or (time == now and head_code[f] < code):
                next_time = now
                next_code = code
                best = f
                now = time
                code = head_code[f]
            elif time < next_time or (time == next_time and head_code[f] < next_code):
                next_time = time
                next_code = head_code[f]
        if now == inf:
            break
        base = best * room
        while True:
            # Take it, and look at the one behind it.
            if best < RUNS:
                at = begin[best] + 1
                begin[best] = at
                if at == end[best]:
                    time = inf
                    head_code[best] = 2 * n
                else:
                    at = base + (at & (room - 1))
                    time = run_time[at]
                    head_code[best] = run_code[at]
                head_time[best] = time
            elif best == _HEAP:
                size = _pop(times, codes, size)
                if size == 0:
                    head_time[_HEAP] = inf
                    head_code[_HEAP] = 2 * n
                else:
                    head_time[_HEAP] = times[0]
                    head_code[_HEAP] = codes[0]
            else:
                entered += 1
                if entered == first.size:
                    head_time[_FIRST] = inf
                    head_code[_FIRST] = 2 * n
                else:
                    head_time[_FIRST] = enter[route[first[entered]]]
                    head_code[_FIRST] = n + first[entered]
            arrives = False
            if code >= n:
                o = code - n
                q = route[o]
                carried = pieces[o & every]
                begins = now
                low = held_ptr[q]
                high = held_ptr[q + 1]
                who = -1
                for k in range(low, high):
                    lane = single[k]
                    if lane < 0:
                        lane = lane_ptr[held[k]]
                        stop = lane_ptr[held[k] + 1]
                        for other in range(lane + 1, stop):
                            if free[other] < free[lane]:
                                lane = other
                    if free[lane] > begins:
                        begins = free[lane]
                        who = holder[lane]
                    lanes_of[k - low] = lane
                for k in range(low, high):
                    lane = lanes_of[k - low]
                    free[lane] = begins + (busy[q] + carried * held_beta[k])
                    holder[lane] = o
                start[o] = begins
                blocker[o] = who
                done = begins + (alpha[q] + carried * beta[q])
                arrives = gamma > 0.0 and reduces[o]
            else:
                o = code
                rank = dst[o]
                begins = now
                if reducer_free[rank] > begins:
                    begins = reducer_free[rank]
                    ahead[o] = reducer_last[rank]
                done = begins + pieces[o & every] * adding[route[o]]
                reducer_free[rank] = done
                reducer_last[rank] = o
            # What follows: its arrival, or who waits for it.
            child = 0
            at = -1
            count = 1
            if not arrives:
                finish[o] = done
                child = only[o]
                if child == 0:
                    count = 0
                elif child < 0:
                    at = -1 - child
                    count = more[at]
            for k in range(count):
                ready = done
                if arrives:
                    code = o
                else:
                    if at >= 0:
                        child = more[at + 1 + k]
                    alone = child & 1
                    child >>= 1
                    if alone == 0:
                        if finish[child] > ready:
                            ready = finish[child]
                        left = waits[child] - 1
                        if left > 0:
                            waits[child] = left
                            finish[child] = ready
                            continue
                    if late and enter[route[child]] > ready:
                        ready = enter[route[child]]
                    code = n + child
                # To the end of the first run that it does not come before.
                f = 0
                while f < RUNS:
                    stop = end[f]
                    if begin[f] == stop:
                        head_time[f] = ready
                        head_code[f] = code
                        break
                    last = f * room + ((stop - 1) & (room - 1))
                    if stop - begin[f] < room and (
                        run_time[last] < ready
                        or (run_time[last] == ready and run_code[last] < code)
                    ):
                        break
                    f += 1
                if f < RUNS:
                    last = f * room + (stop & (room - 1))
                    run_time[last] = ready
                    run_code[last] = code
                    end[f] = stop + 1
                else:
                    size = _push(times, codes, size, ready, code)
                    heaped += 1
                    head_time[_HEAP] = times[0]
                    head_code[_HEAP] = codes[0]
                if f != best and (
                    ready < next_time or (ready == next_time and code < next_code)
                ):
                    next_time = ready
                    next_code = code
            now = head_time[best]
            code = head_code[best]
            if now > next_time or (now == next_time and code >= next_code):
                break
    return heaped
