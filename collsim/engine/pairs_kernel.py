"""Numbers of the distinct pairs of senders and receivers, compiled."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collsim.engine.jit import jit

__all__ = ["number"]


@jit
def number(src, dst, ranks, table, distinct, pair):
    """Give numbers to all pairs that occur, in rising order of ``src * ranks + dst``.

    Parameters
    ----------
    src, dst : int array, shape (N,)
        Pairs, one per operation.
    ranks : int
        Numbers of receivers.
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
    for i in range(src.size):
        table[src[i] * ranks + dst[i]] = 1
    count = 0
    for key in range(table.size):
        if table[key]:
            table[key] = count
            distinct[count] = key
            count += 1
    for i in range(src.size):
        pair[i] = table[src[i] * ranks + dst[i]]
    return count
