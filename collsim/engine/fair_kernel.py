"""Messages that share links fairly: the event loop, on sequences of numbers.

The very same source runs on lists and, compiled, on arrays
(`collsim.engine.fair_compiled`), as in `collsim.core.dependencies_kernel`.

An operation has one pending event at a time: the end of its start-up, then its arrival.
Events at one time are one batch: arrivals before starts, equal ones by operation index,
and rates are computed once, when all have been handled. Only flows that the batch can
touch get new rates; see `collsim.engine.fair_levels`.
"""

# ruff: noqa: C901, PLR0912, PLR0915, PLR1730
# Loops that are run millions of times: calls would cost the plain version its speed.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# One source for lists and for compiled arrays.

from math import floor, inf
from typing import Final

from collsim.engine.fair_levels import again, near
from collsim.engine.queues import arrange, settle, take

__all__ = ["run"]

# Times are rounded to the grid with the border between two of its points at the golden
# ratio: the number that is furthest from all fractions of small denominators, which is
# what shares of a link make of times on the grid.
_BORDER: Final = 1 - 0.6180339887498949
# Of more flows than this, half of which a batch can touch, the order is kept in which
# they were given rates; and looked up every so many batches whether that still pays.
_MANY: Final = 64
_EVERY: Final = 64


def run(
    step, gamma, size, route, reduces, dst, alpha, adding, room, cap, capped,
    node_ptr, way, owner, base, child_ptr, child, waits, release,
    order, where, when, turn, rate, left, since,
    members, spot, count, alive, alive_at, mark, met, reach, flow,
    listed, seq, begun, fresh, before, free, users, keys, codes,
    reducer_free, reducer_last, start, finish, ahead, log_op, log_time, log_rate,
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
    for h in range(len(room)):
        free[h] = room[h]
    # Flows under way, links that they hold, and flows whose order is kept.
    flows = 0
    living = 0
    fixed = 0
    wide = False
    kept = False
    batches = 0
    epoch = 0
    while queued > 0:
        now = when[order[0]]
        epoch += 1
        reached = 0
        added = 0
        back = fixed
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
                elif node_ptr[o] == node_ptr[o + 1]:
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
                    seq[o] = -1
                    flow[added] = o
                    added += 1
                    flows += 1
                    for node in range(node_ptr[o], node_ptr[o + 1]):
                        h = way[node]
                        if count[h] == 0:
                            alive[living] = h
                            alive_at[h] = living
                            living += 1
                        at = count[h]
                        count[h] = at + 1
                        members[base[h] + at] = node
                        spot[node] = at
                        users[h] += 1
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
                if node_ptr[o] != node_ptr[o + 1]:
                    flows -= 1
                    if begun[o] < back:
                        back = begun[o]
                for node in range(node_ptr[o], node_ptr[o + 1]):
                    h = way[node]
                    last = count[h] - 1
                    count[h] = last
                    other = members[base[h] + last]
                    members[base[h] + spot[node]] = other
                    spot[other] = spot[node]
                    users[h] -= 1
                    if last == 0:
                        living -= 1
                        alive[alive_at[h]] = alive[living]
                        alive_at[alive[living]] = alive_at[h]
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
                done += size[o] * adding[route[o]]
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
        batches += 1
        if wide and batches % _EVERY != 0:
            back, fixed = again(
                kept, back, fixed, flows, living, added,
                route, room, cap, capped, node_ptr, way, owner, base,
                members, count, alive, flow, listed, seq, begun, fresh, before, free, users,
                rate, keys, codes,
            )  # fmt: skip
            kept = True
        else:
            back = 0
            kept = False
            fixed = near(
                epoch, reached, route, room, cap, capped, node_ptr, way, owner, base,
                members, count, mark, met, reach, listed, seq, begun, fresh, before, free,
                users, keys, codes,
            )  # fmt: skip
            wide = flows > _MANY and 2 * fixed > flows
        changed = 0
        for i in range(back, fixed):
            o = listed[i]
            if fresh[o] != rate[o]:
                flow[changed] = o
                changed += 1
        # Where much of the queue moves, all of it is put in order at the end.
        much = 4 * changed > queued
        for i in range(changed):
            o = flow[i]
            left[o] = max(left[o] - rate[o] * (now - since[o]), 0.0)
            since[o] = now
            rate[o] = fresh[o]
            when[o] = now + floor(left[o] / rate[o] / step + _BORDER) * step
            if not much:
                queued = settle(order, where, when, turn, queued, o)
            elif where[o] < 0:
                where[o] = queued
                order[queued] = o
                queued += 1
            if logged < room_in_log:
                log_op[logged] = o
                log_time[logged] = now
                log_rate[logged] = rate[o]
            logged += 1
        if much:
            arrange(order, where, when, turn, queued)
    return logged
