"""Which earlier operations each operation must wait for.

Every place (a piece of a rank's memory) sees a sequence of accesses in program
order. Neighbours that commute form a phase: a run of reads, a run of reductions,
or one copy. Each access waits for all of the phase before its own; older phases
follow by transitivity.

`derive` is plain Python on sequences of numbers, so that the very same source
runs on lists and, compiled, on arrays (`collsim.engine.compiled`).

Most operations wait for one other, and then that is all there is to find. From the first
one on that has several candidates, those are left out that another one waits for, and for
that it is kept how operations form chains. A short walk back tells most of them. In a
pipeline the way back can be as long as the schedule; there it is kept for the next chunk
how late in a chain an operation waits for one.
"""

# ruff: noqa: C901, PLR0912, PLR0915, PLR1730
# One loop that is run millions of times: calls would cost the plain version its speed.

__all__ = ["derive"]

_COPY, _REDUCE, _READ, _TURN = 0, 1, 2, 3
# So many steps, and as many for each candidate, a walk may take that keeps no answers;
# of more candidates than this, one walk for all is better.
_STEPS, _EACH, _MANY = 32, 8, 16
# So many steps in all the longer ones may take, some tenths of a second. Where trees are
# climbed and descended again, most answers are that nobody waits, and each takes a walk over
# all that came before; with more, what others imply is kept. It costs memory and no time.
_PATIENCE = 4_000_000


def derive(  # type: ignore[no-untyped-def]  # one source for lists and for compiled arrays
    n,
    slots,
    width,
    walks,
    kind,
    ptr,
    src,
    dst,
    piece,
    into,
    phases,
    state,
    stamp,
    seen,
    node_op,
    node_next,
    depth,
    chain,
    place_in_chain,
    tail,
    best,
    stack,
    found,
    asked,
    frame,
    memo_op,
    memo_chain,
    memo_from,
    memo_before,
    dep_ptr,
    dep,
):
    """Fill `dep_ptr` and `dep` with the transitively reduced dependencies.

    Parameters
    ----------
    n, slots : int
        Number of operations; places of a rank, of which place i of rank r is number
        ``r * slots + i``.
    width : int
        Accesses of every operation, one operation's after the other's, or 0 where `ptr`
        tells them.
    walks : bool
        Whether there is memory for what walks back take.
    kind, ptr : sequence of int, lengths M and n + 1
        Whether an access copies or reduces, or, as 3, writes at both ends; those of
        operation i are ``ptr[i]`` up to ``ptr[i + 1]``.
    src, dst : sequence of int, length n
        Sender and receiver.
    piece, into : sequence of int, length M
        Place read at the sender, place written at the receiver.
    phases : workspace, two entries per place, filled with 0
        The phase that a place is in, and the one before: 0 is nobody, above 0 the number
        of its only operation, counted from 1, below 0 that of a list's last node.
    state : workspace, one entry per place, filled with 0
    stamp, seen : workspace, length n, filled with 0, which operation 0 never looks for
    node_op, node_next : workspace, length 2 M
    depth, chain, place_in_chain, tail, best, stack, found : workspace, length n
        What is not filled is written before it is read; in memory that nobody touches,
        most of it costs nothing.
    asked : workspace, length n, filled with 0
    frame : workspace, length n
    memo_op, memo_chain : workspace, their length a power of two, filled with 0
    memo_from, memo_before : workspace, as long
        That an operation waits for one of a chain at this place or later, and for none from
        that place on; of two operations that fall on one entry the later is kept.
    dep_ptr, dep : output, lengths n + 1, and n or more: as many as dependencies are found

    Returns
    -------
    int
        Number of dependencies; -1 if `dep` is too short, -2 if walks are needed.
    """
    nodes = 0
    chains = 0
    total = 0
    query = 0
    mask = len(memo_op) - 1
    room = len(dep)
    chained = False
    patience = _PATIENCE
    dep_ptr[0] = 0
    for o in range(n):
        count = 0
        only = -1
        low = o * width
        high = low + width
        if width == 0:
            low = ptr[o]
            high = ptr[o + 1]
        for step in range(2):
            for j in range(low, high):
                if step == 0:
                    place = src[o] * slots + piece[j]
                    what = _COPY if kind[j] == _TURN else _READ
                else:
                    place = dst[o] * slots + into[j]
                    what = _COPY if kind[j] == _TURN else kind[j]
                at = 2 * place
                now = phases[at]
                if state[place] != what or what == _COPY:
                    state[place] = what
                    phases[at] = o + 1
                    phases[at + 1] = link = now
                else:
                    link = phases[at + 1]
                    if now != o + 1:
                        if now > 0:
                            node_op[nodes] = now - 1
                            node_next[nodes] = 0
                            nodes += 1
                            now = -nodes
                        node_op[nodes] = o
                        node_next[nodes] = now
                        nodes += 1
                        phases[at] = -nodes
                while link != 0:
                    if link > 0:
                        d = link - 1
                        link = 0
                    else:
                        d = node_op[-link - 1]
                        link = node_next[-link - 1]
                    if d == o:
                        continue
                    if count == 0:
                        only = d
                        count = 1
                        continue
                    if d == only:
                        continue
                    if count == 1:
                        found[0] = only
                        stamp[only] = o
                    if stamp[d] != o:
                        stamp[d] = o
                        found[count] = d
                        count += 1

        if not chained:
            # One for each operation always has room.
            if count <= 1:
                if count == 1:
                    dep[total] = only
                    total += 1
                dep_ptr[o + 1] = total
                continue
            # From here on chains are needed: those of all that came before, which wait
            # for one at most.
            chained = True
            for i in range(o):
                deepest = -1
                mine = -1
                if dep_ptr[i + 1] > dep_ptr[i]:
                    d = dep[dep_ptr[i]]
                    deepest = depth[d]
                    if tail[chain[d]] == d:
                        mine = chain[d]
                depth[i] = deepest + 1
                if mine == -1:
                    mine = chains
                    chains += 1
                    place_in_chain[i] = 0
                else:
                    place_in_chain[i] = place_in_chain[tail[mine]] + 1
                chain[i] = mine
                tail[mine] = i
        if count == 1:
            found[0] = only

        # Of several candidates in one chain the last implies the others.
        if count > 1:
            for i in range(count):
                best[chain[found[i]]] = -1
            for i in range(count):
                c = chain[found[i]]
                if place_in_chain[found[i]] > best[c]:
                    best[c] = place_in_chain[found[i]]
            kept = 0
            for i in range(count):
                if place_in_chain[found[i]] == best[chain[found[i]]]:
                    found[kept] = found[i]
                    kept += 1
                else:
                    stamp[found[i]] = -1
            count = kept

        # The rest by walking back, no further than a candidate can lie.
        if count > 1:
            if not walks:
                return -2
            lowest = found[0]
            shallowest = depth[found[0]]
            for i in range(1, count):
                if found[i] < lowest:
                    lowest = found[i]
                if depth[found[i]] < shallowest:
                    shallowest = depth[found[i]]
            left = count
            top = 0
            for i in range(count):
                if depth[found[i]] > shallowest:
                    stack[top] = found[i]
                    top += 1
            steps = _STEPS + _EACH * count
            while top > 0 and left > 1 and (steps > 0 or left > _MANY):
                top -= 1
                o2 = stack[top]
                steps -= dep_ptr[o2 + 1] - dep_ptr[o2]
                for k in range(dep_ptr[o2], dep_ptr[o2 + 1]):
                    d = dep[k]
                    if seen[d] != o and d >= lowest:
                        seen[d] = o
                        if stamp[d] == o:
                            stamp[d] = -1
                            left -= 1
                        elif depth[d] > shallowest:
                            stack[top] = d
                            top += 1
            if top > 0 and left > 1 and patience > 0:
                # For each that is left: does any other of them wait for it?
                for i in range(count):
                    x = found[i]
                    if stamp[x] != o:
                        continue
                    c = chain[x]
                    want = place_in_chain[x]
                    query += 1
                    hit, reached = False, -1
                    for i2 in range(count):
                        y = found[i2]
                        if y <= x or stamp[y] != o or depth[y] <= depth[x]:
                            continue
                        # Depth first, the latest first: who is done does not reach it.
                        stack[0] = y
                        frame[0] = dep_ptr[y + 1]
                        top = 1
                        while top > 0 and patience > 0:
                            patience -= 1
                            d = stack[top - 1]
                            k = frame[top - 1] - 1
                            if k < dep_ptr[d]:
                                at = (int(d) * 40503 + int(c) * 9973) & mask
                                if memo_op[at] != d or memo_chain[at] != c:
                                    memo_op[at], memo_chain[at] = d, c
                                    memo_from[at] = -1
                                memo_before[at] = want
                                top -= 1
                                continue
                            frame[top - 1] = k
                            d = dep[k]
                            if d < x or asked[d] == query:
                                continue
                            if chain[d] == c:
                                reached = place_in_chain[d]
                                if reached >= want:
                                    hit = True
                                    break
                                continue
                            if depth[d] <= depth[x]:
                                continue
                            at = (int(d) * 40503 + int(c) * 9973) & mask
                            if memo_op[at] == d and memo_chain[at] == c:
                                reached = memo_from[at]
                                if reached >= want:
                                    hit = True
                                    break
                                if memo_before[at] <= want:
                                    continue
                            asked[d] = query
                            stack[top] = d
                            frame[top] = dep_ptr[d + 1]
                            top += 1
                        if hit:
                            for i3 in range(top):
                                at = (int(stack[i3]) * 40503 + int(c) * 9973) & mask
                                if memo_op[at] != stack[i3] or memo_chain[at] != c:
                                    memo_op[at], memo_chain[at] = stack[i3], c
                                    memo_before[at] = n
                                memo_from[at] = reached
                            stamp[x] = -1
                            left -= 1
                            break
            if left < count:
                kept = 0
                for i in range(count):
                    if stamp[found[i]] == o:
                        found[kept] = found[i]
                        kept += 1
                count = kept

        if total + count > room:
            return -1
        gap = count // 2
        while gap > 0:
            for i in range(gap, count):
                value = found[i]
                k = i
                while k >= gap and found[k - gap] > value:
                    found[k] = found[k - gap]
                    k -= gap
                found[k] = value
            gap //= 2

        deepest = -1
        mine = -1
        for i in range(count):
            d = found[i]
            dep[total] = d
            total += 1
            if depth[d] > deepest:
                deepest = depth[d]
            if mine == -1 and tail[chain[d]] == d:
                mine = chain[d]
        depth[o] = deepest + 1
        if mine == -1:
            mine = chains
            chains += 1
            place_in_chain[o] = 0
        else:
            place_in_chain[o] = place_in_chain[tail[mine]] + 1
        chain[o] = mine
        tail[mine] = o
        dep_ptr[o + 1] = total
    return total
