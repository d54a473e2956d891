"""The oracle itself, against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.engine.reference import reference
from collsim.errors import InputError, UnknownNameError

FOUR = [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]


@pytest.mark.parametrize(
    ("op", "result"),
    [
        ("sum", [6, 10, 14, 18]),
        ("prod", [0, 24, 120, 360]),
        ("min", [0, 1, 2, 3]),
        ("max", [3, 4, 5, 6]),
        ("avg", [1, 2, 3, 4]),
    ],
)
def test_reductions(op: str, result: list[int]) -> None:
    """Four ranks, element by element; 6/4 of integers is 1."""
    assert [out.tolist() for out in reference("all_reduce", FOUR, op) if out is not None] == [
        result
    ] * 4


def test_shares_are_whole_elements() -> None:
    """Ten elements on four ranks: 3, 3, 2, 2."""
    shares = reference("scatter", [None, list(range(10)), None, None], root=1)
    assert [s.tolist() for s in shares if s is not None] == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7],
        [8, 9],
    ]


def test_only_the_root_gets_something() -> None:
    """Gather and reduce leave the others without an output."""
    for name in ("gather", "reduce"):
        outputs = reference(name, FOUR, root=2)
        assert [out is None for out in outputs] == [True, True, False, True]


def test_sendrecv_shifts_by_one() -> None:
    """Rank 0 gets what the last rank sends."""
    outputs = reference("sendrecv", [[0], [1], [2]])
    assert [out.tolist() for out in outputs if out is not None] == [[2], [0], [1]]


def test_small_types_wrap_as_they_do_on_a_gpu() -> None:
    """100 + 100 in 8 bits is -56, and no wider type comes out."""
    out = reference("all_reduce", [np.array([100], np.int8)] * 2)[0]
    assert out is not None
    assert (out.dtype, out.tolist()) == (np.int8, [-56])


def test_unknown_op_and_root() -> None:
    """One line each."""
    with pytest.raises(UnknownNameError, match="did you mean 'sum'"):
        reference("reduce", FOUR, "sun")
    with pytest.raises(InputError, match="root: got 4"):
        reference("reduce", FOUR, root=4)
