"""Execute a schedule with real numbers, and what the collective must give."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.collective import OPS
from collsim.core.elements import input_counts, split
from collsim.core.schedule import REDUCE, Schedule
from collsim.engine.replay import Sums, finish_order
from collsim.engine.simulate import simulate
from collsim.engine.trials import even
from collsim.engine.wording import name_operation, name_party, name_place
from collsim.errors import InputError, UnknownNameError

__all__ = ["execute", "input_counts", "mean", "split"]

Array = NDArray[np.number]

COMBINE: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "avg": np.add,
}


def mean(total: Array, ranks: int) -> Array:
    """Return a sum divided by the rank count, in its own type; integers towards zero.

    Towards zero is how NCCL divides integers.

    Examples
    --------
    >>> mean(np.array([7, -7]), 2).tolist()
    [3, -3]
    """
    if not np.issubdtype(total.dtype, np.integer):
        quotient: Array = (total / ranks).astype(total.dtype)
        return quotient
    # In wide integers: P may not fit the type, and a quotient of floats is not exact.
    wide = total.astype(np.uint64 if total.dtype.kind == "u" else np.int64)
    down, rest = np.divmod(wide, wide.dtype.type(ranks))
    whole: Array = (down + ((rest != 0) & (wide < 0))).astype(total.dtype)
    return whole


def execute(
    schedule: Schedule,
    inputs: Sequence[ArrayLike | None],
    op: str = "sum",
    order: Iterable[int] | None = None,
) -> list[Array | None]:
    """Run a schedule on arrays, as its ranks would.

    Parameters
    ----------
    schedule : Schedule
        What to run.
    inputs : sequence of array or None, one per rank
        What each rank brings, one-dimensional, any length, all of one type; ranks that
        bring nothing (all but the root of a broadcast or scatter) may have None. Where
        one rank's data make several blocks they are cut into whole elements, the larger
        shares first, and blocks are cut into parts likewise.
    op : str
        ``"sum"``, ``"prod"``, ``"min"``, ``"max"`` or ``"avg"``: the sum, divided by the
        rank count at the end. Of no effect where nothing is reduced.
    order : iterable of int, optional
        Every operation once, in the order in which they read and write; by default that
        in which they finish on an ideal network.

    Returns
    -------
    list of array or None, one per rank
        What torch.distributed would give: all blocks that a rank must hold, end to end;
        None for a rank that must hold nothing. Arrays are new, and of the inputs' type.

    Raises
    ------
    InputError
        If inputs don't fit each other or the schedule, or an operation sends data that
        are not there.
    UnknownNameError
        If there is no such `op`.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> every = [np.array([rank, rank + 1]) for rank in range(2)]
    >>> [out.tolist() for out in execute(build("all_reduce", "ring", 2), every)]
    [[1, 3], [1, 3]]
    """
    if op not in OPS:
        raise UnknownNameError("op", op, OPS)
    if order is None:
        order = finish_order(simulate(schedule, even(schedule), 1e6))
    memory = _load(schedule, inputs)
    with np.errstate(over="ignore", invalid="ignore"):  # as GPUs do, silently
        _move(schedule, memory, COMBINE[op], order)
        outputs = _collect(schedule, memory)
        if op == "avg" and schedule.collective.reduces:
            return [None if out is None else mean(out, schedule.ranks) for out in outputs]
    return outputs


def _load(schedule: Schedule, inputs: Sequence[ArrayLike | None]) -> dict[int, Array]:
    """Return the memory of all ranks before the call: rank * places + place to data."""
    ranks, places, parts = schedule.ranks, schedule.places, schedule.parts
    if len(inputs) != ranks:
        raise InputError(
            f"inputs: got {len(inputs)} arrays, expected one for each of {ranks} ranks"
        )
    rank, block = schedule.collective.before(ranks, schedule.root)
    memory: dict[int, Array] = {}
    first: Array | None = None
    for r in range(ranks):
        mine = np.sort(block[rank == r]).tolist()
        if not mine:
            continue
        given = inputs[r]
        data = np.asarray(given)
        if given is None or data.ndim != 1:
            got = None if given is None else f"shape {data.shape}"
            raise InputError(f"inputs: rank {r} has {got}, expected a one-dimensional array")
        first = data if first is None else first
        if data.dtype != first.dtype:
            raise InputError(
                f"inputs: rank {r} has {data.dtype}, expected {first.dtype} as before it"
            )
        if schedule.collective.reduces and data.size != first.size:
            raise InputError(
                f"inputs: rank {r} has {data.size} elements, expected {first.size} as before it"
            )
        for b, whole in zip(mine, _cut(data, len(mine)), strict=True):
            for part, share in enumerate(_cut(whole, parts)):
                memory[r * places + b * parts + part] = share
    return memory


def _cut(data: Array, parts: int) -> list[Array]:
    ends = np.cumsum([0, *split(data.size, parts)]).tolist()
    return [data[i:j] for i, j in pairwise(ends)]


def _move(
    schedule: Schedule,
    memory: dict[int, Array],
    combine: Callable[[Array, Array], Array],
    order: Iterable[int],
) -> None:
    """Run all operations; arrays are shared and never changed in place."""
    places = schedule.places
    src, dst = schedule.src.tolist(), schedule.dst.tolist()
    reduces = (schedule.kind == REDUCE).tolist()
    ptr = schedule.piece_ptr.tolist()
    read, write = schedule.piece.tolist(), schedule.into.tolist()
    sums = Sums(schedule)
    for operation in order:
        o = int(operation)
        here, there = src[o] * places, dst[o] * places
        sources = read[ptr[o] : ptr[o + 1]]
        keys = [here + place for place in sources]
        message = [memory.get(key) for key in keys]
        sums.read(memory, keys)
        for data, source, place in zip(
            message, sources, write[ptr[o] : ptr[o + 1]], strict=True
        ):
            if data is None:
                raise InputError(
                    f"{name_operation(schedule, o)} sends {name_place(schedule, source)}, "
                    f"but {name_party(schedule, src[o])} holds nothing there"
                )
            known = memory.get(there + place) if reduces[o] else None
            if known is not None and known.size != data.size:
                raise InputError(
                    f"{name_operation(schedule, o)} combines {data.size} elements with "
                    f"{known.size} in {name_place(schedule, place)} of "
                    f"{name_party(schedule, dst[o])}"
                )
            memory[there + place] = data if known is None else combine(known, data)
            sums.written(there + place, reduces[o])


def _collect(schedule: Schedule, memory: dict[int, Array]) -> list[Array | None]:
    outputs: list[Array | None] = []
    rank, block = schedule.collective.after(schedule.ranks, schedule.root)
    for r in range(schedule.ranks):
        pieces = [
            b * schedule.parts + part
            for b in np.sort(block[rank == r]).tolist()
            for part in range(schedule.parts)
        ]
        for piece in pieces:
            if r * schedule.places + piece not in memory:
                raise InputError(
                    f"at the end rank {r} holds nothing in {name_place(schedule, piece)}"
                )
        data = [memory[r * schedule.places + piece] for piece in pieces]
        outputs.append(np.concatenate(data) if data else None)
    return outputs
