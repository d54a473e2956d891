"""Where the time of a long critical path goes, in one source for Python and for numba.

The same walk as :func:`collsim.engine.critical.critical_path`, step by step and to the last
bit, of one collective whose links are not shared fairly; but it keeps no steps. The path of a
folded ring has as many as the ring has ranks.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# One source for lists and for compiled arrays.

__all__ = ["meet", "walk"]


def meet(
    o, holder, src, dst, turn, turns, route, held_ptr, held, held_beta, held_turn,
    size, busy_of, start,
):  # fmt: skip
    """Return whether an operation has its sender or receiver in common with one in its way.

    Both are named after representatives. The one in its way is renamed so that what it held
    is what the operation had to wait for: where it let go just when the operation began.
    """
    if src[holder] != src[o] and dst[holder] != dst[o]:
        return False
    q = route[o]
    r = route[holder]
    by = to = -1
    for k in range(held_ptr[q], held_ptr[q + 1]):
        for m in range(held_ptr[r], held_ptr[r + 1]):
            free = start[holder] + (busy_of[r] + size[holder] * held_beta[m])
            if by >= 0 or held[k] != held[m] or free != start[o]:
                continue
            # Shifts add up; XOR undoes itself, and has no number of turns here.
            if turns > 0:
                by = (held_turn[k] - held_turn[m]) % turns
                to = (turn[holder] + by) % turns
            else:
                by = held_turn[k] ^ held_turn[m]
                to = turn[holder] ^ by
    return (src[holder] == src[o] and by == 0) or (dst[holder] == dst[o] and to == turn[o])


def walk(
    src,
    dst,
    dep_ptr,
    dep,
    route,
    size,
    alpha_of,
    beta_of,
    busy_of,
    adding,
    enter,
    start,
    finish,
    blocker,
    ahead,
    turn,
    turns,
    held_ptr,
    held,
    held_beta,
    held_turn,
    last,
    parts,
):
    """Walk back from the last operation and write alpha, beta, gamma and waiting to `parts`."""
    alpha = beta = gamma = waiting = 0.0
    o = last
    until = finish[o]
    while o >= 0:
        q = route[o]
        begin = start[o]
        arrival = begin + (alpha_of[q] + size[o] * beta_of[q])
        if until > arrival and ahead[o] >= 0 and until == finish[o]:
            # Held up by the reduction just before its own at the same receiver.
            gamma += size[o] * adding[q]
            o = ahead[o]
            until = finish[o]
            continue
        if until > arrival:
            gamma += until - arrival
            until = arrival
        startup = min(alpha_of[q] if until == arrival else busy_of[q], until - begin)
        alpha += startup
        # In the order in which the other walk adds and subtracts.
        beta += until - begin - 0.0 - startup
        ready, cause = 0.0, -1
        for k in range(dep_ptr[o], dep_ptr[o + 1]):
            d = dep[k]
            if cause < 0 or finish[d] > ready:
                ready, cause = finish[d], d
        late = enter[q] > ready
        holder = blocker[o]
        if holder >= 0 and meet(
            o, holder, src, dst, turn, turns, route, held_ptr, held, held_beta, held_turn, size,
            busy_of, start,
        ):  # fmt: skip
            # The time until it began is that of the message in its way.
            ready, cause = begin, holder
        elif late:
            ready, cause = 0.0, -1
        waiting += 0.0 + 0.0 + (begin - ready)
        until, o = ready, cause
    parts[0], parts[1], parts[2], parts[3] = alpha, beta, gamma, waiting
