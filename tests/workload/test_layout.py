"""Groups of ranks, by axes."""

from __future__ import annotations

import pytest

from collsim.core.workload import Parallel
from collsim.errors import InputError
from collsim.workload.layout import layout


def test_the_example_of_megatron() -> None:
    """16 GPUs, tensor 2, pipeline 4, as `initialize_model_parallel` documents them."""
    found = layout(Parallel(tensor=2, pipeline=4), 16)
    assert found.groups["data"] == (
        (0, 2), (1, 3), (4, 6), (5, 7), (8, 10), (9, 11), (12, 14), (13, 15),
    )  # fmt: skip
    assert found.groups["tensor"] == tuple((r, r + 1) for r in range(0, 16, 2))
    assert found.sends == tuple(
        tuple((r, r + 4) for r in range(4 * stage, 4 * stage + 4)) for stage in range(3)
    )


def test_experts_are_shared_out_along_the_data_axis() -> None:
    """Neighbours share the experts of a layer; what is left has the same experts."""
    found = layout(Parallel(tensor=2, expert=2), 8)
    assert found.groups["data"] == ((0, 2, 4, 6), (1, 3, 5, 7))
    assert found.groups["expert"] == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert found.groups["expert_data"] == ((0, 4), (1, 5), (2, 6), (3, 7))


def test_another_order() -> None:
    """With data the fastest axis, tensor groups lie across."""
    found = layout(Parallel(tensor=2, order=("data", "tensor", "pipeline")), 8)
    assert found.groups["data"] == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert found.groups["tensor"] == ((0, 4), (1, 5), (2, 6), (3, 7))


@pytest.mark.parametrize("axes", [(1, 1, 1), (2, 2, 1), (2, 3, 3), (1, 4, 2)])
def test_every_rank_is_in_one_group_of_each_kind(axes: tuple[int, int, int]) -> None:
    """And groups of one rank are none."""
    tensor, pipeline, expert = axes
    ranks = tensor * pipeline * expert * 2
    found = layout(Parallel(tensor=tensor, pipeline=pipeline, expert=expert), ranks)
    for groups in found.groups.values():
        assert sorted(rank for group in groups for rank in group) == list(range(ranks))
        assert len({len(group) for group in groups}) == 1
        assert len(groups[0]) > 1
    assert found.size("tensor") == tensor
    assert ("tensor" in found.groups) == (tensor > 1)


@pytest.mark.parametrize(
    ("parallel", "message"),
    [
        (Parallel(tensor=3), "tensor 3 x pipeline 1 is 3, expected a divisor"),
        (Parallel(tensor=16), "tensor 16 x pipeline 1 is 16, expected a divisor"),
        (Parallel(data=4), "data 4 is 4, but the cluster has 8 ranks"),
        (Parallel(expert=3), "parallel.expert: got 3, expected a divisor of the 8"),
    ],
)
def test_axes_that_do_not_fit(parallel: Parallel, message: str) -> None:
    """The message names axes and ranks."""
    with pytest.raises(InputError, match=message):
        layout(parallel, 8)
