"""Fitting what can hardly be fitted: each degenerate or mixed input has its outcome."""

from __future__ import annotations

import pytest
from ring_rows import SIZES, ring, rows

from collsim.calibrate.fit import fit
from collsim.config.profile import dumps, loads
from collsim.core.measurements import Measurement, Measurements, Source
from collsim.errors import InputError


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (
            [(1024, 1e-5)],
            "one row of 1KiB cannot tell alpha from beta, expected rows of at least two sizes",
        ),
        (
            [(1024, 1e-5), (1024, 1.1e-5), (1024, 1.2e-5)],
            "3 rows of 1KiB cannot tell alpha from beta, expected rows of at least two sizes",
        ),
        (
            [(10**9, 1e-5), (10**9 + 1, 1e-5)],
            "2 rows from 1000000000B to 1000000001B cannot tell alpha from beta, expected",
        ),
        (
            [(0, 1e-5), (0, 1.1e-5)],
            "no row to fit: 2 rows left out: 0 bytes, where libraries return without",
        ),
        (
            [(8, 0.0), (64, 0.0)],
            "no row to fit: 2 rows left out: a time of 0, which cannot be true",
        ),
    ],
)
def test_rows_that_cannot_tell_are_an_error(
    times: list[tuple[int, float]], message: str
) -> None:
    """One row, one size, sizes too close, 0 bytes, 0 seconds."""
    with pytest.raises(InputError) as caught:
        fit(rows(times))
    assert str(caught.value).startswith(message)


def test_one_size_on_two_rank_counts_is_enough() -> None:
    """2 alphas + n beta and 14 alphas + 1.75 n beta differ."""
    times = rows([(1000, 2e-6 + 1e-6)], 2) + rows([(1000, 14e-6 + 1.75e-6)], 8)
    found = fit(times).parameters
    assert found["link.alpha"].value == pytest.approx(1e-6)
    assert found["link.beta"].value == pytest.approx(1e-9)


def test_two_rows_are_solved_without_an_interval() -> None:
    """As many parameters as rows; no error can be held out."""
    found = fit(rows([(1000, 14e-6 + 1.75e-6), (2000, 14e-6 + 3.5e-6)]))
    alpha = found.parameters["link.alpha"]
    assert alpha.value == pytest.approx(1e-6)
    assert (alpha.low, alpha.high) == (None, None)
    assert found.errors.held_out is None
    assert found.profile.notes[1:] == (
        "no intervals: as many parameters as rows",
        "no held-out error: without the held-out sizes too few rows are left",
    )
    assert loads(dumps(found.profile), "p.toml") == found.profile


def test_three_rows_hold_out_the_middle_one() -> None:
    """Two are left, enough for alpha and beta."""
    found = fit(rows(ring()[:3]))
    assert found.errors.held_out is not None
    assert (found.errors.held_out.kind, found.errors.held_out.n) == ("sizes", 1)


@pytest.mark.parametrize("times", [[1e-5] * 4, [4e-5, 3e-5, 2e-5, 1e-5]])
def test_times_that_do_not_rise_give_no_beta(times: list[float]) -> None:
    """Equal or falling: beta is at its bound, and the profile says so."""
    found = fit(rows(zip(SIZES[4:8], times, strict=True)))
    beta = found.parameters["link.beta"]
    # Equal times leave only rounding.
    assert beta.value < 1e-18
    assert beta.low == 0.0
    zero = "beta came out as 0: the times do not rise with the size"
    reaches = (
        "the interval of beta reaches 0: the rows do not tell by how much times rise with "
        "the size"
    )
    assert (zero if beta.value == 0 else reaches) in found.profile.notes
    assert loads(dumps(found.profile), "p.toml") == found.profile
    assert found.parameters["link.alpha"].value > 0


def test_times_proportional_to_the_size_give_no_alpha() -> None:
    """No latency at all, or times that rise faster than the size."""
    found = fit(rows((n, 1e-12 * n**1.1) for n in SIZES))
    assert found.parameters["link.alpha"].value == 0.0
    assert "alpha came out as 0: the times are proportional" in " ".join(found.profile.notes)


def test_an_interval_that_reaches_zero_is_noted() -> None:
    """Scatter hides what the size costs, or what a message does."""
    small = [2e-5, 3e-5, 2e-5, 3e-5, 2.6e-5, 3e-5]
    notes = fit(rows(zip(SIZES, small, strict=False))).profile.notes
    assert any(note.startswith("the interval of beta reaches 0: ") for note in notes)
    large = [n * 1e-11 * scatter for n, scatter in zip(SIZES[6:], small, strict=True)]
    notes = fit(rows(zip(SIZES[6:], large, strict=True))).profile.notes
    assert any(note.startswith(("the interval of alpha", "alpha came out")) for note in notes)


def test_rows_that_tell_nothing_are_left_out_and_counted() -> None:
    """0 bytes, one rank, another algorithm, a time of 0, wrong results."""
    tree = "algorithm tree ran, not ring; --algorithm double_binary_tree takes them"
    odd = (
        rows([(0, 1e-7)])
        + rows([(8, 1e-6), (64, 1e-6)], 1)
        + rows([(8, 1e-3)], algorithm="tree")
        + rows([(8, 0.0)])
        + rows([(8, 1e-3)], wrong=3)
    )
    found = fit(rows(ring(), algorithm="ring") + odd)
    assert len(found.rows) == len(SIZES)
    assert found.profile.notes[:5] == (
        "1 row left out: 0 bytes, where libraries return without communication",
        "2 rows left out: one rank, where nothing crosses a link",
        f"1 row left out: {tree}",
        "1 row left out: a time of 0, which cannot be true",
        "1 row left out: wrong results",
    )


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (
            {"process_model": "one process"},
            {"process_model": "process per GPU"},
            "process models",
        ),
        ({"clock": "host"}, {"clock": "host, CUDA graph"}, "clocks"),
        ({"device": "H100"}, {"device": "A100"}, "devices"),
    ],
)
def test_rows_of_different_systems_are_refused(
    one: dict[str, str], other: dict[str, str], what: str
) -> None:
    """Where each is found, and what to do."""
    mixed = rows(ring(), source=Source("a.log", 3, **one)) + rows(
        ring(), source=Source("b.log", 5, **other)
    )
    values = ", ".join(
        f"{v!r} ({f})"
        for v, f in zip([*one.values(), *other.values()], ["a.log:3", "b.log:5"], strict=True)
    )
    with pytest.raises(InputError) as caught:
        fit(mixed)
    assert str(caught.value) == f"rows of different {what}: {values}; fit their files apart"


def test_an_unknown_process_model_goes_with_a_known_one() -> None:
    """A log without a head does not contradict."""
    mixed = rows(ring(), source=Source("a.log", 3, process_model="one process")) + rows(ring())
    assert fit(mixed).profile.process_model == "one process"


def test_protocols_are_fitted_apart() -> None:
    """Where the rows say which ran."""
    mixed = rows(ring(), protocol="ll") + rows(ring(), protocol="simple")
    with pytest.raises(InputError, match=r"different protocols: 'll' .* --where 'protocol == "):
        fit(mixed)
    assert fit(mixed, where=["protocol == ll"]).parameters


def test_element_types_go_together_only_where_bytes_are_copied() -> None:
    """A reduction of half is no reduction of int8; an all_gather of them is the same."""
    copies = [rows(ring(), collective="all_gather", dtype=d) for d in ("half", "int8")]
    assert fit(copies[0] + copies[1]).profile.notes[0] == (
        "rows of types half, int8 together: as bytes that are only copied"
    )
    with pytest.raises(InputError, match="rows of different element types: 'half'"):
        fit(rows(ring(), dtype="half") + rows(ring(), dtype="int8"))


def test_nccl_s_tree_is_fitted_by_our_name() -> None:
    """Whoever asks for another is told that name, and why NCCL's pieces are not fitted."""
    source = Source("a.log", 1, backend="nccl")
    rows = Measurements(
        Measurement("all_reduce", 8, 2**k, 2e-5 + 2**k * 4e-12, algorithm="tree", source=source)
        for k in range(3, 30)
    )
    assert len(fit(rows, algorithm="double_binary_tree").rows) == 27
    with pytest.raises(InputError) as caught:
        fit(rows)
    assert str(caught.value) == (
        "no row to fit: 27 rows left out: algorithm tree ran, not ring; --algorithm "
        "double_binary_tree takes them; and no model of NCCL is fitted: the log does not name "
        "the GPU, and no cluster is given (-c)"
    )
