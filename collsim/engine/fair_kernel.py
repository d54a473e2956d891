"""Messages that share links fairly: the event loop, on sequences of numbers.

The very same source runs on lists and, compiled, on arrays
(`collsim.engine.fair_compiled`), as in `collsim.core.depend`.

An operation has one pending event at a time: the end of its start-up, then its arrival.
Events at one time are one batch: arrivals before starts, equal ones by operation index,
and rates are computed once, when all have been handled. Only flows that the batch can
touch get new rates: those that share links, over any number of others, with what began
or ended in it.
"""

# ruff: noqa: C901, PLR0912, PLR0915, PLR1730
# Loops that are run millions of times: calls would cost the plain version its speed.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# One source for lists and for compiled arrays.

from math import floor, inf
from typing import Final

from collsim.engine.queues import pop, push, settle, take

__all__ = ["fill", "run"]

# Times are rounded to the grid with the border between two of its points at the golden
# ratio: the number that is furthest from all fractions of small denominators, which is
# what shares of a link make of times on the grid.
_BORDER: Final = 1 - 0.6180339887498949


def fill(
    epoch, reached, route, held_ptr, held, room, cap, capped, first, following, owner,
    mark, met, reach, flow, fresh, free, users, keys, codes,
):  # fmt: skip
    """Give every flow that the links in `reach` can touch its max-min fair rate.

    Progressive filling: all rates rise together; where a link is full, or a flow is as
    fast as one lane, the flows in question stop and the others rise on. A link's level
    only rises as flows elsewhere stop, so entries of the heap are checked when they come
    up instead of being moved.

    Returns
    -------
    int
        Number of flows, listed in `flow`, with rates in `fresh`.
    """
    flows = 0
    size = 0
    links = len(room)
    i = 0
    while i < reached:
        h = reach[i]
        i += 1
        count = 0
        node = first[h]
        while node != -1:
            f = owner[node]
            count += 1
            if met[f] != epoch:
                met[f] = epoch
                flow[flows] = f
                flows += 1
                fresh[f] = -1.0
                q = route[f]
                for k in range(held_ptr[q], held_ptr[q + 1]):
                    other = held[k]
                    if mark[other] != epoch:
                        mark[other] = epoch
                        reach[reached] = other
                        reached += 1
                if capped[q]:
                    size = push(keys, codes, size, cap[q], links + f)
            node = following[node]
        free[h] = room[h]
        users[h] = count
        if count > 0:
            size = push(keys, codes, size, room[h] / count, h)
    level = 0.0
    left = flows
    while left > 0:
        key = keys[0]
        code = codes[0]
        size = pop(keys, codes, size)
        node = -1
        f = code - links
        if code < links:
            if users[code] == 0:
                continue
            share = free[code] / users[code]
            if share > key:
                size = push(keys, codes, size, share, code)
                continue
            node = first[code]
            f = owner[node]
        if key > level:
            level = key
        while True:
            if fresh[f] < 0.0:
                fresh[f] = level
                left -= 1
                q = route[f]
                for k in range(held_ptr[q], held_ptr[q + 1]):
                    free[held[k]] -= level
                    users[held[k]] -= 1
            if node != -1:
                node = following[node]
            if node == -1:
                break
            f = owner[node]
    return flows


def run(
    step, gamma, size, route, reduces, dst, alpha, held_ptr, held, room, cap, capped,
    node_ptr, owner, child_ptr, child, waits, release,
    order, where, when, turn, rate, left, since, following, previous, first,
    mark, met, reach, flow, fresh, free, users, keys, codes, reducer_free, reducer_last,
    start, finish, ahead, log_op, log_time, log_rate,
):  # fmt: skip
    """Run once; see `collsim.engine.fair.FairLoop` for what goes in and comes out.

    Returns
    -------
    int
        Number of times that some flow's rate changed: so many entries the three logs
        want. What they have no room for is not written.
    """
    n = len(route)
    queued = 0
    logged = 0
    room_in_log = len(log_op)
    for o in range(n):
        # Until an operation begins, the time at which its data are there.
        start[o] = release[o]
        ahead[o] = -1
        where[o] = -1
        rate[o] = 0.0
        met[o] = 0
        turn[o] = n + o
        if waits[o] == 0:
            when[o] = release[o] + alpha[route[o]]
            queued = settle(order, where, when, turn, queued, o)
    epoch = 0
    while queued > 0:
        now = when[order[0]]
        epoch += 1
        reached = 0
        while queued > 0 and when[order[0]] == now:
            o = order[0]
            queued = take(order, where, when, turn, queued)
            q = route[o]
            if turn[o] >= n:
                turn[o] = o
                left[o] = size[o]
                since[o] = now
                if size[o] == 0.0 or cap[q] == inf:
                    queued = settle(order, where, when, turn, queued, o)
                elif held_ptr[q] == held_ptr[q + 1]:
                    # Nothing on its way has a limit: it has its lane for itself.
                    rate[o] = cap[q]
                    when[o] = now + floor(size[o] / cap[q] / step + _BORDER) * step
                    queued = settle(order, where, when, turn, queued, o)
                    if logged < room_in_log:
                        log_op[logged] = o
                        log_time[logged] = now
                        log_rate[logged] = cap[q]
                    logged += 1
                else:
                    node = node_ptr[o]
                    for k in range(held_ptr[q], held_ptr[q + 1]):
                        h = held[k]
                        following[node] = first[h]
                        previous[node] = -1
                        if first[h] != -1:
                            previous[first[h]] = node
                        first[h] = node
                        node += 1
                        if mark[h] != epoch:
                            mark[h] = epoch
                            reach[reached] = h
                            reached += 1
                continue
            if rate[o] > 0.0:
                rate[o] = 0.0
                if logged < room_in_log:
                    log_op[logged] = o
                    log_time[logged] = now
                    log_rate[logged] = 0.0
                logged += 1
                node = node_ptr[o]
                for k in range(held_ptr[q], held_ptr[q + 1]):
                    h = held[k]
                    after = following[node]
                    before = previous[node]
                    if after != -1:
                        previous[after] = before
                    if before == -1:
                        first[h] = after
                    else:
                        following[before] = after
                    node += 1
                    if mark[h] != epoch:
                        mark[h] = epoch
                        reach[reached] = h
                        reached += 1
            done = now
            if gamma > 0.0 and reduces[o]:
                rank = dst[o]
                if reducer_free[rank] > done:
                    done = reducer_free[rank]
                    ahead[o] = reducer_last[rank]
                done += size[o] * gamma
                reducer_free[rank] = done
                reducer_last[rank] = o
            finish[o] = done
            for k in range(child_ptr[o], child_ptr[o + 1]):
                c = child[k]
                if done > start[c]:
                    start[c] = done
                waits[c] -= 1
                if waits[c] == 0:
                    when[c] = start[c] + alpha[route[c]]
                    queued = settle(order, where, when, turn, queued, c)
        if reached == 0:
            continue
        flows = fill(
            epoch, reached, route, held_ptr, held, room, cap, capped, first, following, owner,
            mark, met, reach, flow, fresh, free, users, keys, codes,
        )  # fmt: skip
        for i in range(flows):
            o = flow[i]
            if fresh[o] == rate[o]:
                continue
            left[o] = max(left[o] - rate[o] * (now - since[o]), 0.0)
            since[o] = now
            rate[o] = fresh[o]
            when[o] = now + floor(left[o] / rate[o] / step + _BORDER) * step
            queued = settle(order, where, when, turn, queued, o)
            if logged < room_in_log:
                log_op[logged] = o
                log_time[logged] = now
                log_rate[logged] = rate[o]
            logged += 1
    return logged
