"""Which ranks form groups: axes laid out with the fastest first, as Megatron-LM does."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.workload import Parallel
from collsim.errors import InputError

__all__ = ["Groups", "Layout", "layout"]

Groups = tuple[tuple[int, ...], ...]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Groups of ranks of every kind.

    Parameters
    ----------
    groups : dict of Groups
        By kind; a kind whose groups are of one rank is left out.
    sends : tuple of Groups
        Pairs of neighbouring pipeline stages, one tuple per border.
    tensor, expert, data, pipeline : int
        Sizes of the axes.
    """

    groups: dict[str, Groups]
    sends: tuple[Groups, ...]
    tensor: int
    expert: int
    data: int
    pipeline: int

    def size(self, kind: str) -> int:
        """Return how many ranks a group of a kind has."""
        return len(self.groups[kind][0]) if kind in self.groups else 1


def layout(parallel: Parallel, ranks: int) -> Layout:
    """Return the groups that ranks form.

    Rank r has the coordinates of r written in the mixed base of the axes, in their order.
    Neighbours along the data axis share out the experts.

    Parameters
    ----------
    parallel : Parallel
        Sizes and order of the axes.
    ranks : int
        Ranks of the cluster.

    Raises
    ------
    InputError
        If the axes don't multiply to the ranks, or the experts can't be shared out.

    Examples
    --------
    The example in Megatron-LM's documentation of `initialize_model_parallel`:

    >>> found = layout(Parallel(tensor=2, pipeline=4), 16)
    >>> found.groups["data"][:4]
    ((0, 2), (1, 3), (4, 6), (5, 7))
    >>> found.sends[0]
    ((0, 4), (1, 5), (2, 6), (3, 7))
    """
    fixed = parallel.tensor * parallel.pipeline
    data = parallel.data or ranks // fixed
    if parallel.data and data * fixed != ranks:
        raise InputError(
            f"parallel: tensor {parallel.tensor} x pipeline {parallel.pipeline} x data {data} "
            f"is {data * fixed}, but the cluster has {ranks} ranks"
        )
    if data * fixed != ranks:
        raise InputError(
            f"parallel: tensor {parallel.tensor} x pipeline {parallel.pipeline} is {fixed}, "
            f"expected a divisor of the cluster's {ranks} ranks"
        )
    if data % parallel.expert:
        raise InputError(
            f"parallel.expert: got {parallel.expert}, expected a divisor of the {data} "
            "data-parallel ranks"
        )
    sizes = {"tensor": parallel.tensor, "data": data, "pipeline": parallel.pipeline}
    # The slowest axis is the first of an array's.
    grid = np.arange(ranks).reshape([sizes[axis] for axis in reversed(parallel.order)])
    axes = [parallel.order[::-1].index(axis) for axis in ("pipeline", "data", "tensor")]
    grid = grid.transpose(axes)
    groups: dict[str, Groups] = {
        "tensor": _rows(grid.transpose(0, 1, 2)),
        "data": _rows(grid.transpose(0, 2, 1)),
        "all": (tuple(range(ranks)),),
    }
    if parallel.expert > 1:
        parts = grid.reshape(
            parallel.pipeline, data // parallel.expert, parallel.expert, parallel.tensor
        )
        groups["expert"] = _rows(parts.transpose(0, 3, 1, 2))
        groups["expert_data"] = _rows(parts.transpose(0, 3, 2, 1))
    sends = tuple(
        _rows(np.stack([grid[stage].ravel(), grid[stage + 1].ravel()], axis=1))
        for stage in range(parallel.pipeline - 1)
    )
    return Layout(
        {kind: found for kind, found in groups.items() if len(found[0]) > 1},
        sends,
        parallel.tensor,
        parallel.expert,
        data,
        parallel.pipeline,
    )


def _rows(array: IntArray) -> Groups:
    """Return the rows of an array along its last axis, in the order of their first ranks."""
    flat = array.reshape(-1, array.shape[-1])
    return tuple(sorted(tuple(row) for row in flat.tolist()))
