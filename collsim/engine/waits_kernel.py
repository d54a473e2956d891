"""Who waits for each operation, told from who it waits for, compiled."""

# ruff: noqa: C901, PLR0912
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collsim.engine.jit import jit

__all__ = ["children"]


@jit
def children(dep_ptr, dep, only, more, waits, first):
    """Tell who waits for each operation, from who it waits for.

    An operation is named by twice its number, and 1 more if it waits for one alone: then it
    may go as soon as that is done, and nothing is counted.

    Parameters
    ----------
    dep_ptr, dep : int arrays
        As in the schedule.
    only : int array, shape (N,), filled with 0, output
        The operation that waits for each one; 0 if there is none; if there are several,
        -1 minus where in `more` their number stands, which they follow.
    more : int array, shape (2 D,), workspace
        Lists of several; what is not needed is not touched.
    waits : int array, shape (N,), filled with 0, output
        How many each one waits for, if several.
    first : int array, shape (N,), output
        Those that wait for nobody.

    Returns
    -------
    int, bool
        How many wait for nobody, and whether any waits for several.
    """
    n = only.size
    # Most schedules of many messages are done in one pass: nobody is waited for twice.
    free = 0
    several = False
    branches = False
    for o in range(n):
        low = dep_ptr[o]
        high = dep_ptr[o + 1]
        name = 2 * o + 1
        if high == low:
            first[free] = o
            free += 1
        elif high > low + 1:
            name = 2 * o
            waits[o] = high - low
            several = True
        if branches:
            continue
        for k in range(low, high):
            if only[dep[k]] != 0:
                branches = True
                break
            only[dep[k]] = name
    if not branches:
        return free, several
    for o in range(n):
        only[o] = 0
    for k in range(dep_ptr[n]):
        only[dep[k]] += 1
    used = 0
    for o in range(n):
        count = only[o]
        only[o] = 0
        if count > 1:
            more[used] = 0
            only[o] = -1 - used
            used += 1 + count
    for o in range(n):
        name = 2 * o if dep_ptr[o + 1] > dep_ptr[o] + 1 else 2 * o + 1
        for k in range(dep_ptr[o], dep_ptr[o + 1]):
            at = -1 - only[dep[k]]
            if at < 0:
                only[dep[k]] = name
            else:
                more[at] += 1
                more[at + more[at]] = name
    return free, several
