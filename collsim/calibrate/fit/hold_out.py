"""Which rows a fit does not see, so that its error on them says something."""

from collections.abc import Callable, Iterator, Sequence

from collsim.core.measurements import Measurement
from collsim.errors import InputError, UnknownNameError

__all__ = ["folds"]

_KEYS: dict[str, Callable[[Measurement], str | int | None]] = {
    "sizes": lambda row: row.nbytes,
    "collectives": lambda row: row.collective,
    "ranks": lambda row: row.ranks,
    "nodes": lambda row: row.nodes,
}
_KINDS = tuple(_KEYS)
_ONE = {"collectives": "collective", "ranks": "rank count", "nodes": "node count"}


def folds(rows: Sequence[Measurement], kind: str) -> Iterator[tuple[list[int], list[int]]]:
    """Yield which rows to fit and which to predict.

    ``sizes`` holds out every second size, once; ``collectives``, ``ranks`` and
    ``nodes`` hold out each value in turn.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    InputError
        If there is only one collective, rank count or node count, or a node count is
        not known.

    Examples
    --------
    >>> rows = [Measurement("all_reduce", 8, n, 1e-5) for n in (1, 2, 4, 8)]
    >>> list(folds(rows, "sizes"))
    [([0, 2], [1, 3])]
    """
    if kind not in _KEYS:
        raise UnknownNameError("hold-out", kind, _KINDS)
    keys = [_KEYS[kind](row) for row in rows]
    if None in keys:
        row = rows[keys.index(None)]
        raise InputError(
            f"hold-out nodes: {row.source} does not say how many nodes; "
            "say it with gpus_per_node=, --gpus-per-node"
        )
    distinct = sorted(set(keys), key=lambda key: (str(type(key)), key))
    if kind == "sizes":
        yield _split(keys, set(distinct[1::2]))
        return
    if len(distinct) < 2:
        only = distinct[0] if distinct else "none"
        raise InputError(
            f"hold-out {kind}: got one {_ONE[kind]}, {only}, expected at least two"
        )
    for key in distinct:
        yield _split(keys, {key})


def _split(keys: Sequence[object], out: set[object]) -> tuple[list[int], list[int]]:
    seen = [i for i, key in enumerate(keys) if key not in out]
    return seen, [i for i, key in enumerate(keys) if key in out]
