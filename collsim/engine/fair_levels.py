"""Max-min fair rates by progressive filling, and again from where something changes.

All rates rise together; where a link is full, or a flow is as fast as one lane, the flows in
question stop and the others rise on. So flows are given their rates in rising order. When
flows begin or end, those that had stopped before any of their links was full keep theirs:
the filling is undone from the end, up to there, and done again. What each step took from a
link was noted, so that undoing it leaves the very numbers that were there before.

Where a change reaches few flows only, over links that they share, filling them alone is
less; which it is to be, the loop decides.
"""

# ruff: noqa: C901, PLR0912, PLR0915, PLR1730
# Loops that are run millions of times: calls would cost the plain version its speed.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# One source for lists and for compiled arrays.

from typing import Final

from collsim.engine.queues import heap, pop, push

__all__ = ["again", "fill", "near"]

# With more new flows than this the filling begins anew.
_FEW: Final = 32


def fill(
    level, fixed, flows, size, node_ptr, way, owner, base, members, count,
    listed, seq, begun, fresh, before, free, users, keys, codes,
):  # fmt: skip
    """Let all flows that have no rate yet rise, and return how many have one then.

    A link's level only rises as flows elsewhere stop, so entries of the heap are checked
    when they come up instead of being moved.

    Parameters
    ----------
    level : float
        Rate from which they rise.
    fixed, flows : int
        Flows that have a rate, the first of `listed`, and that are to have one.
    size : int
        Of the heap: links with flows that rise, and flows that one lane limits.
    free, users : sequences, one entry per link
        What is left for flows that rise, and their number.
    """
    links = len(free)
    while fixed < flows:
        key = keys[0]
        code = codes[0]
        size = pop(keys, codes, size)
        alone = code >= links
        if alone:
            low = 0
            high = 1
        else:
            if users[code] == 0:
                continue
            share = free[code] / users[code]
            if share > key:
                size = push(keys, codes, size, share, code)
                continue
            low = base[code]
            high = low + count[code]
        if key > level:
            level = key
        first = fixed
        for i in range(low, high):
            f = code - links if alone else owner[members[i]]
            if seq[f] >= 0:
                continue
            seq[f] = fixed
            begun[f] = first
            fresh[f] = level
            listed[fixed] = f
            fixed += 1
            for node in range(node_ptr[f], node_ptr[f + 1]):
                h = way[node]
                before[node] = free[h]
                free[h] -= level
                users[h] -= 1
    return fixed


def near(
    epoch, reached, route, room, cap, capped, node_ptr, way, owner, base, members, count,
    mark, met, reach, listed, seq, begun, fresh, before, free, users, keys, codes,
):  # fmt: skip
    """Give every flow that the links in `reach` can touch its rate.

    Returns
    -------
    int
        Number of flows, listed in `listed`, with rates in `fresh`.
    """
    flows = 0
    size = 0
    links = len(room)
    i = 0
    while i < reached:
        h = reach[i]
        i += 1
        for k in range(base[h], base[h] + count[h]):
            f = owner[members[k]]
            if met[f] != epoch:
                met[f] = epoch
                seq[f] = -1
                flows += 1
                for node in range(node_ptr[f], node_ptr[f + 1]):
                    other = way[node]
                    if mark[other] != epoch:
                        mark[other] = epoch
                        reach[reached] = other
                        reached += 1
                if capped[route[f]]:
                    keys[size] = cap[route[f]]
                    codes[size] = links + f
                    size += 1
        free[h] = room[h]
        users[h] = count[h]
        if count[h] > 0:
            keys[size] = room[h] / count[h]
            codes[size] = h
            size += 1
    heap(keys, codes, size)
    return fill(
        0.0, 0, flows, size, node_ptr, way, owner, base, members, count,
        listed, seq, begun, fresh, before, free, users, keys, codes,
    )  # fmt: skip


def again(
    kept, back, fixed, flows, living, added, route, room, cap, capped, node_ptr, way, owner,
    base, members, count, alive, flow, listed, seq, begun, fresh, before, free, users, rate,
    keys, codes,
):  # fmt: skip
    """Give all flows their rates, but for those that keep theirs.

    Parameters
    ----------
    kept : bool
        Whether `listed` holds what the last filling did; if not, all is filled.
    back : int
        How many keep their rates as far as flows are concerned that have ended.
    fixed, flows : int
        Flows that had a rate, ended ones among them, and flows that there are.
    living, added : int
        Links that are held, in `alive`, and flows that have begun, in `flow`.

    Returns
    -------
    int, int
        How many kept their rates, and how many flows there are.
    """
    links = len(room)
    size = 0
    level = 0.0
    if not kept or added > _FEW:
        back = 0
        for h in range(links):
            free[h] = room[h]
            users[h] = count[h]
            for k in range(base[h], base[h] + count[h]):
                f = owner[members[k]]
                if seq[f] != -2 and capped[route[f]]:
                    keys[size] = cap[route[f]]
                    codes[size] = links + f
                    size += 1
                seq[f] = -2
    else:
        right = False
        while True:
            while fixed > back:
                fixed -= 1
                f = listed[fixed]
                seq[f] = -1
                for node in range(node_ptr[f + 1] - 1, node_ptr[f] - 1, -1):
                    h = way[node]
                    free[h] = before[node]
                    users[h] += 1
                # Those that have ended have no rate any more.
                if rate[f] > 0.0 and capped[route[f]]:
                    keys[size] = cap[route[f]]
                    codes[size] = links + f
                    size += 1
            if right or back == 0:
                break
            # Would a new flow have stopped before?
            level = fresh[listed[back - 1]]
            right = True
            for i in range(added):
                f = flow[i]
                if capped[route[f]] and cap[route[f]] < level:
                    right = False
                for node in range(node_ptr[f], node_ptr[f + 1]):
                    h = way[node]
                    if free[h] / users[h] < level:
                        right = False
            if not right:
                back = begun[listed[back - 1]]
        if back == 0:
            level = 0.0
        for i in range(added):
            f = flow[i]
            if capped[route[f]]:
                keys[size] = cap[route[f]]
                codes[size] = links + f
                size += 1
    for i in range(living):
        h = alive[i]
        if users[h] > 0:
            keys[size] = free[h] / users[h]
            codes[size] = h
            size += 1
    heap(keys, codes, size)
    return back, fill(
        level, back, flows, size, node_ptr, way, owner, base, members, count,
        listed, seq, begun, fresh, before, free, users, keys, codes,
    )  # fmt: skip
