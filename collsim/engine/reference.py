"""What a collective must give, in plain numpy: the oracle for executed schedules.

Written collective by collective, and not from pre- and postconditions, so that an error
in those shows as a difference.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.collective import OPS, Collective, check_root, collective
from collsim.engine.execute import mean
from collsim.errors import UnknownNameError

__all__ = ["reference"]

Array = NDArray[np.number]


def reference(
    kind: Collective | str, inputs: Sequence[ArrayLike | None], op: str = "sum", root: int = 0
) -> list[Array | None]:
    """Return what torch.distributed gives each rank.

    Parameters
    ----------
    kind : Collective or str
        Which collective.
    inputs : sequence of array or None, one per rank
        As for :func:`collsim.engine.execute.execute`.
    op : str
        ``"sum"``, ``"prod"``, ``"min"``, ``"max"`` or ``"avg"``.
    root : int
        Root of a rooted collective.

    Returns
    -------
    list of array or None, one per rank
        None for a rank that gets nothing.

    Raises
    ------
    UnknownNameError
        If there is no such collective or `op`.

    Examples
    --------
    >>> [out.tolist() for out in reference("all_to_all", [[0, 1], [2, 3]])]
    [[0, 2], [1, 3]]
    """
    known = collective(kind) if isinstance(kind, str) else kind
    root = check_root(root, len(inputs))
    if known.reduces:
        return _reduced(known.name, [np.array(data) for data in inputs], op, root)
    return _moved(known.name, inputs, root)


def _moved(name: str, inputs: Sequence[ArrayLike | None], root: int) -> list[Array | None]:
    ranks = len(inputs)
    if name == "broadcast":
        return [np.array(inputs[root])] * ranks
    if name == "scatter":
        return list(np.array_split(np.array(inputs[root]), ranks))
    arrays = [np.array(data) for data in inputs]
    if name == "all_to_all":
        messages = [np.array_split(data, ranks) for data in arrays]
        return [np.concatenate([sent[to] for sent in messages]) for to in range(ranks)]
    if name == "sendrecv":
        return [arrays[rank - 1] for rank in range(ranks)]
    everything = np.concatenate(arrays)
    return _only(root, everything, ranks) if name == "gather" else [everything] * ranks


def _reduced(name: str, arrays: list[Array], op: str, root: int) -> list[Array | None]:
    ranks = len(arrays)
    total = _combined(arrays, op)
    if name == "reduce":
        return _only(root, total, ranks)
    if name == "reduce_scatter":
        return list(np.array_split(total, ranks))
    return [total] * ranks


def _only(root: int, data: Array, ranks: int) -> list[Array | None]:
    return [data if rank == root else None for rank in range(ranks)]


def _combined(arrays: list[Array], op: str) -> Array:
    stack = np.stack(arrays)
    with np.errstate(over="ignore", invalid="ignore"):
        if op in ("sum", "avg"):
            total: Array = stack.sum(axis=0, dtype=stack.dtype)
            return mean(total, len(arrays)) if op == "avg" else total
        if op == "prod":
            return np.asarray(stack.prod(axis=0, dtype=stack.dtype))
        if op == "min":
            return np.asarray(stack.min(axis=0))
        if op == "max":
            return np.asarray(stack.max(axis=0))
    raise UnknownNameError("op", op, OPS)
