"""Numbers for what occurs, of pairs of ranks and of places in memory, compiled."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collsim.engine.jit import jit

__all__ = ["number", "pack"]


@jit
def number(src, dst, ranks, to, known, table, distinct, pair):
    """Give numbers to all pairs that occur, in rising order of ``src * ranks + dst``.

    Parameters
    ----------
    src, dst : int array, shape (N,)
        Pairs, one per operation.
    ranks : int
        Numbers of receivers.
    to, known : int array, one entry per sender
        Workspace; `to` filled with -1.
    table : int array, filled with 0
        Workspace for every possible pair.
    distinct : int array, output
        The pairs that occur, as ``src * ranks + dst``.
    pair : int array, shape (N,), output
        Number of the pair of every operation.

    Returns
    -------
    int
        How many pairs occur.
    """
    # Most senders send to the same receiver again: that is looked up in order, and near.
    for i in range(src.size):
        if to[src[i]] != dst[i]:
            to[src[i]] = dst[i]
            table[src[i] * ranks + dst[i]] = 1
    count = 0
    for key in range(table.size):
        if table[key]:
            table[key] = count
            distinct[count] = key
            count += 1
    to[:] = -1
    for i in range(src.size):
        if to[src[i]] != dst[i]:
            to[src[i]] = dst[i]
            known[src[i]] = table[src[i] * ranks + dst[i]]
        pair[i] = known[src[i]]
    return count


@jit
def pack(width, ptr, src, dst, piece, into, first, order, table, read, written):
    """Give numbers to all places that are touched, rank by rank.

    Parameters
    ----------
    width, ptr : int, int array
        Accesses of every operation, or where they begin, as `dependencies_kernel` takes them.
    src, dst : int array, shape (N,)
        Sender and receiver of every operation.
    piece, into : int array, shape (M,)
        Place read at the sender, place written at the receiver.
    first : int array, shape (ranks + 2,), filled with 0
        Workspace.
    order : int array, shape (2 M,)
        Workspace.
    table : int array, filled with 0
        Workspace for every place of a rank.
    read, written : int array, shape (M,), output
        The numbers of these places.

    Returns
    -------
    int
        How many places are touched.
    """
    n = src.size
    for o in range(n):
        size = width if width > 0 else ptr[o + 1] - ptr[o]
        first[src[o] + 2] += size
        first[dst[o] + 2] += size
    for r in range(2, first.size):
        first[r] += first[r - 1]
    for o in range(n):
        low = o * width if width > 0 else ptr[o]
        high = low + width if width > 0 else ptr[o + 1]
        for j in range(low, high):
            order[first[src[o] + 1]] = 2 * j
            first[src[o] + 1] += 1
            order[first[dst[o] + 1]] = 2 * j + 1
            first[dst[o] + 1] += 1
    count = 0
    for r in range(first.size - 2):
        # Numbers above this one are of this rank.
        before = count
        for k in range(first[r], first[r + 1]):
            j = order[k] >> 1
            writes = order[k] & 1
            place = into[j] if writes else piece[j]
            mine = table[place]
            if mine <= before:
                count += 1
                mine = count
                table[place] = mine
            if writes:
                written[j] = mine - 1
            else:
                read[j] = mine - 1
    return count
