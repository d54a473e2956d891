"""Where the time of a long critical path goes, in one source for Python and for numba.

The same walk as :func:`collsim.engine.critical.critical_path`, step by step and to the last
bit, of one collective whose links are not shared fairly; but it keeps no steps. The path of a
folded ring has as many as the ring has ranks.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# One source for lists and for compiled arrays.

__all__ = ["walk"]


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
        if holder >= 0 and (src[holder] == src[o] or dst[holder] == dst[o]):
            # The time until it began is that of the message in its way.
            ready, cause = begin, holder
        elif late:
            ready, cause = 0.0, -1
        waiting += 0.0 + 0.0 + (begin - ready)
        until, o = ready, cause
    parts[0], parts[1], parts[2], parts[3] = alpha, beta, gamma, waiting
