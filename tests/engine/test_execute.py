"""Schedules on real numbers: torch.distributed's results, any count, op, type and root."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.builder import Builder
from collsim.core.collective import COLLECTIVES, OPS, collective
from collsim.engine.execute import execute, input_counts, mean, split
from collsim.engine.reference import reference
from collsim.errors import InputError, UnknownNameError

MEMBERS = [(kind, name) for kind in COLLECTIVES for name in algorithm_names(kind)]
STEPS = [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
RANGES = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
SUMS = [6, 10, 14, 18]
# What torch.distributed gives on four ranks; the root is rank 0.
TORCH: dict[str, tuple[list[list[int] | None], list[list[int] | None]]] = {
    "all_reduce": ([*STEPS], [SUMS] * 4),
    "reduce": ([*STEPS], [SUMS, None, None, None]),
    "reduce_scatter": ([*STEPS], [[6], [10], [14], [18]]),
    "all_gather": ([[6], [10], [14], [18]], [SUMS] * 4),
    "broadcast": ([[0, 1, 2, 3], None, None, None], [[0, 1, 2, 3]] * 4),
    "scatter": ([[0, 1, 2, 3], None, None, None], [[0], [1], [2], [3]]),
    "gather": ([[0], [1], [2], [3]], [[0, 1, 2, 3], None, None, None]),
    "all_to_all": (
        [*RANGES],
        [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]],
    ),
    "sendrecv": ([[0], [1], [2], [3]], [[3], [0], [1], [2]]),
}


def lists(outputs: list[NDArray[Any] | None]) -> list[list[Any] | None]:
    """Return outputs as plain lists."""
    return [None if out is None else out.tolist() for out in outputs]


@pytest.mark.parametrize(("kind", "name"), MEMBERS)
def test_gives_what_torch_distributed_gives(kind: str, name: str) -> None:
    """Four ranks, numbers worked by hand, every algorithm; on two nodes what needs them."""
    inputs, outputs = TORCH[kind]
    node = None if refusal(kind, name, 4, multicast=True) is None else [0, 0, 1, 1]
    schedule = build(kind, name, 4, node=node, multicast=True)
    assert lists(execute(schedule, inputs)) == outputs
    assert lists(reference(kind, inputs)) == outputs


def names(kind: str, ranks: int) -> list[str]:
    """Return the algorithms of a collective that run on so many ranks."""
    return [name for name in algorithm_names(kind) if refusal(kind, name, ranks) is None]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("count", [0, 1, 3, 10, 16])
@pytest.mark.parametrize("name", names("all_reduce", 5))
def test_all_reduce_is_reduce_scatter_then_all_gather(name: str, op: str, count: int) -> None:
    """Element by element, whichever algorithms do the three."""
    draw = np.random.default_rng(1)
    inputs = [draw.integers(-9, 9, count) for _ in range(5)]
    whole = lists(execute(build("all_reduce", name, 5), inputs, op))
    for first in names("reduce_scatter", 5):
        shares = execute(build("reduce_scatter", first, 5), inputs, op)
        for second in names("all_gather", 5):
            assert lists(execute(build("all_gather", second, 5), shares)) == whole


@settings(max_examples=400)
@given(
    st.sampled_from(MEMBERS),
    st.sampled_from([1, 2, 3, 5, 7, 13]),
    st.integers(0, 40),
    st.sampled_from(OPS),
    st.data(),
)
def test_agrees_with_numpy(
    member: tuple[str, str], ranks: int, count: int, op: str, data: st.DataObject
) -> None:
    """Any algorithm, rank count, root, chunk count, element count, op and integer type."""
    kind, name = member
    assume(refusal(kind, name, ranks, multicast=True) is None)
    root = data.draw(st.integers(0, ranks - 1)) if collective(kind).rooted else 0
    chunks = data.draw(st.integers(1, 4)) if find(kind, name).chunked else 1
    dtype = data.draw(st.sampled_from([np.int8, np.uint8, np.int32, np.int64]))
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    counts = input_counts(collective(kind), ranks, count, root)
    inputs = [draw.integers(-128, 128, size).astype(dtype) for size in counts]
    got = execute(build(kind, name, ranks, root, chunks, multicast=True), inputs, op)
    assert lists(got) == lists(reference(kind, inputs, op, root))
    assert {out.dtype for out in got if out is not None} == {np.dtype(dtype)}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("op", OPS)
def test_other_types_are_kept(op: str, dtype: type) -> None:
    """Quarters of small numbers are exact in all of them."""
    inputs = [np.array([1, 2, 3], dtype) * rank for rank in range(4)]
    got = execute(build("all_reduce", "ring", 4), inputs, op)[3]
    want = reference("all_reduce", inputs, op)[3]
    assert got is not None
    assert want is not None
    assert (got.dtype, got.tolist()) == (dtype, want.tolist())


def test_shares_need_not_be_alike() -> None:
    """What ranks gather may be of any length each."""
    inputs = [np.arange(1, 2), np.arange(0), np.arange(2, 5)]
    for name in names("all_gather", 3):
        assert lists(execute(build("all_gather", name, 3), inputs)) == [[1, 2, 3, 4]] * 3


def test_inputs_are_left_alone() -> None:
    """Reductions are not done in the caller's arrays, and outputs share no memory."""
    inputs = [np.array([1, 2]), np.array([3, 4])]
    outputs = execute(build("all_reduce", "ring", 2), inputs)
    for out in outputs:
        assert out is not None
        out[:] = 0
    assert lists(list(inputs)) == [[1, 2], [3, 4]]
    only = np.array([1, 2])
    alone = execute(build("all_reduce", "ring", 1), [only])[0]
    assert alone is not None
    assert not np.shares_memory(alone, only)


@pytest.mark.parametrize(
    ("count", "parts", "shares"),
    [
        (10, 4, [3, 3, 2, 2]),
        (0, 3, [0, 0, 0]),
        (1, 3, [1, 0, 0]),
        (9, 3, [3, 3, 3]),
        (2, 1, [2]),
    ],
)
def test_split(count: int, parts: int, shares: list[int]) -> None:
    """Whole elements, the larger shares first."""
    assert split(count, parts) == shares


@pytest.mark.parametrize(
    ("dtype", "total", "ranks", "result"),
    [
        (np.int64, [7, -7, 6, -6], 2, [3, -3, 3, -3]),
        (np.int8, [-128, 127], 3, [-42, 42]),
        (np.int64, [-(2**63), 2**63 - 1], 3, [-(2**63) // 3 + 1, (2**63 - 1) // 3]),
        (np.uint64, [2**64 - 1], 2, [2**63 - 1]),
        (np.int8, [100], 1000, [0]),
        (np.float32, [1.0], 4, [0.25]),
    ],
)
def test_mean(dtype: type, total: list[float], ranks: int, result: list[float]) -> None:
    """Integers are divided exactly, towards zero, also where P does not fit the type."""
    out = mean(np.array(total, dtype), ranks)
    assert (out.dtype, out.tolist()) == (dtype, result)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([[1], [2]], "got 2 arrays, expected one for each of 3 ranks"),
        ([[1], None, [3]], "rank 1 has None, expected a one-dimensional array"),
        ([[1], [[2]], [3]], r"rank 1 has shape \(1, 1\), expected a one-dimensional array"),
        ([[1], [2.0], [3]], "rank 1 has float64, expected int64"),
        ([[1], [2], [3, 4]], "rank 2 has 2 elements, expected 1"),
    ],
)
def test_inputs_that_do_not_fit(inputs: list[Any], message: str) -> None:
    """The message names the rank."""
    with pytest.raises(InputError, match=message):
        execute(build("all_reduce", "ring", 3), inputs)


def test_unknown_op() -> None:
    """With the nearest."""
    with pytest.raises(UnknownNameError, match="did you mean 'prod'"):
        execute(build("all_reduce", "ring", 2), [[1], [2]], "product")


def test_broken_schedules_say_where() -> None:
    """Sending what is not there, leaving places empty, adding what does not match."""
    b = Builder(collective("broadcast"), 2)
    with pytest.raises(InputError, match="at the end rank 1 holds nothing in block 0"):
        execute(b.finish(), [[1], None])
    b.copy(1, 0, b.pieces[0])
    with pytest.raises(
        InputError, match=r"operation 0 .* sends block 0, but rank 1 holds nothing"
    ):
        execute(b.finish(), [[1], None])
    b = Builder(collective("reduce_scatter"), 2)
    b.reduce(0, 1, b.pieces[0], into=b.pieces[1])
    with pytest.raises(InputError, match="combines 2 elements with 1 in block 1 of rank 1"):
        execute(b.finish(), [[1, 2, 3], [4, 5, 6]])
