"""Fitting: known parameters come back, and every degenerate input has its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collsim.calibrate.fit import fit
from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers.nccl_tests import read
from collsim.config.profile import dumps, loads
from collsim.core.measurements import Measurement, Measurements, Source
from collsim.errors import CollsimError, InputError, UnknownNameError

SIZES = tuple(8 * 4**k for k in range(12))


def rows(
    times: Iterable[tuple[int, float]] = (), ranks: int = 8, **fields: object
) -> Measurements:
    """Return all_reduce rows of (size, seconds)."""
    return Measurements(
        Measurement(
            str(fields.get("collective", "all_reduce")),
            ranks,
            size,
            seconds,
            **{k: v for k, v in fields.items() if k != "collective"},  # type: ignore[arg-type]
        )
        for size, seconds in times
    )


def ring(
    ranks: int = 8, alpha: float = 2e-6, beta: float = 1e-11, launch: float = 0.0
) -> list[tuple[int, float]]:
    """Return (size, seconds) of a ring all_reduce."""
    steps = 2 * (ranks - 1)
    return [(n, launch + steps * alpha + steps / ranks * n * beta) for n in SIZES]


@given(
    alpha=st.floats(1e-7, 1e-4),
    beta=st.floats(1e-13, 1e-9),
    ranks=st.integers(2, 64),
    name=st.sampled_from(
        ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "reduce"]
    ),
)
def test_exact_times_give_the_parameters_back(
    synthetic: ModuleType, alpha: float, beta: float, ranks: int, name: str
) -> None:
    """Without noise, to 1e-6 of the larger part at one of the sizes."""
    times = [(n, synthetic.seconds(name, ranks, n, alpha, beta)) for n in (1, 10**5, 10**12)]
    found = fit(rows(times, ranks, collective=name)).parameters
    assert found["link.alpha"].value == pytest.approx(alpha, rel=1e-6)
    assert found["link.beta"].value == pytest.approx(beta, rel=1e-6)


@given(seed=st.integers(0, 10**6), noise=st.floats(0.001, 0.03))
def test_a_noisy_log_gives_them_back_within_the_interval(
    synthetic: ModuleType, seed: int, noise: float
) -> None:
    """Within 2.5 half widths of 95 %: about five standard deviations."""
    text = synthetic.log("all_reduce", 8, alpha=3e-6, beta=4e-12, noise=noise, seed=seed)
    found = fit(read("a.log", text.splitlines(), ReadOptions())).parameters
    for key, true in (("link.alpha", 3e-6), ("link.beta", 4e-12)):
        parameter = found[key]
        assert parameter.high is not None
        assert abs(parameter.value - true) < 2.5 * (parameter.high - parameter.value)


def test_the_interval_covers_what_it_says(synthetic: ModuleType) -> None:
    """Of 200 seeded logs with launch, 95 % hold each true value: 190, give or take."""
    covered = dict.fromkeys(("launch", "link.alpha", "link.beta"), 0)
    true = {"launch": 1e-5, "link.alpha": 2e-6, "link.beta": 3e-12}
    for seed in range(200):
        lines = []
        for ranks in (2, 4, 8):
            lines += synthetic.head("all_reduce", ranks)
            lines += synthetic.rows(
                "all_reduce", ranks, 2e-6, 3e-12, 1e-5, 0.02, seed * 10 + ranks, SIZES
            )
        found = fit(read("a.log", lines, ReadOptions())).parameters
        for key, parameter in found.items():
            assert parameter.low is not None
            assert parameter.high is not None
            covered[key] += parameter.low <= true[key] <= parameter.high
    assert all(180 <= count <= 199 for count in covered.values()), covered


def test_several_rank_counts_tell_launch_from_alpha() -> None:
    """2 and 8 ranks have 2 and 14 alphas to one launch."""
    both = rows(ring(2, launch=9e-6), 2) + rows(ring(8, launch=9e-6), 8)
    found = fit(both)
    assert found.parameters["launch"].value == pytest.approx(9e-6)
    assert found.parameters["link.alpha"].value == pytest.approx(2e-6)
    assert found.profile.notes == ()


def test_several_collectives_tell_launch_from_alpha() -> None:
    """all_reduce has 14 alphas, all_gather 7."""
    half = [(n, (t - 9e-6) / 2 + 9e-6) for n, t in ring(8, launch=9e-6)]
    both = rows(ring(8, launch=9e-6)) + rows(half, collective="all_gather")
    assert fit(both).parameters["launch"].value == pytest.approx(9e-6)


def test_one_rank_count_leaves_launch_to_alpha() -> None:
    """It is 0, has no interval, and the profile says why."""
    found = fit(rows(ring()))
    launch = found.parameters["launch"]
    assert (launch.value, launch.low, launch.high, launch.kind) == (
        0.0,
        None,
        None,
        "assumption",
    )
    assert "; ".join(found.profile.notes) == (
        "launch is 0: the rows are of all_reduce on 8 ranks only, "
        "so it cannot be told from alpha, which contains it"
    )


def test_all_reduce_on_two_and_all_gather_on_three_ranks_do_not_tell_launch() -> None:
    """Both have two alphas: it is the design that decides, not the count of collectives."""
    gather = [(n, 2 * 2e-6 + 2 / 3 * n * 1e-11) for n in SIZES]
    found = fit(rows(ring(2), 2) + rows(gather, 3, collective="all_gather"))
    assert found.parameters["launch"].value == 0.0
    assert found.profile.notes[0].startswith(
        "launch is 0: the rows are of all_gather, all_reduce on 2, 3 ranks "
        "and too few or too alike"
    )


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
    if beta.value == 0:
        assert "beta came out as 0: the times do not rise with the size" in found.profile.notes
    assert found.parameters["link.alpha"].value > 0


def test_times_proportional_to_the_size_give_no_alpha() -> None:
    """No latency at all, or times that rise faster than the size."""
    found = fit(rows((n, 1e-12 * n**1.1) for n in SIZES))
    assert found.parameters["link.alpha"].value == 0.0
    assert "alpha came out as 0: the times are proportional" in " ".join(found.profile.notes)


def test_rows_that_tell_nothing_are_left_out_and_counted() -> None:
    """0 bytes, one rank, another algorithm, a time of 0, wrong results."""
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
        "1 row left out: algorithm tree ran, not ring",
        "1 row left out: a time of 0, which cannot be true",
        "1 row left out: wrong results",
    )


@pytest.mark.parametrize(
    ("columns", "alpha"), [("out-of-place", 2e-6), ("in-place", 4e-6), ("both", None)]
)
def test_columns_choose_what_is_fitted(columns: str, alpha: float | None) -> None:
    """In place takes twice the alpha here."""
    both = rows(ring()) + rows(ring(alpha=4e-6), in_place=True)
    found = fit(both, columns=columns)
    value = found.parameters["link.alpha"].value
    assert value == pytest.approx(alpha) if alpha else 2e-6 < value < 4e-6
    assert found.profile.columns == columns


def test_conditions_choose_what_is_fitted() -> None:
    """Only what meets them is in the profile."""
    found = fit(rows(ring(2), 2) + rows(ring(8)), where=["ranks == 8", "size <= 32K"])
    assert (found.profile.ranks, found.profile.max_bytes) == ((8,), 32768)


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


def test_every_second_size_is_held_out() -> None:
    """12 sizes: 6 are predicted by a fit of the other 6."""
    times = [(n, t * (2 if i % 2 else 1)) for i, (n, t) in enumerate(ring())]
    found = fit(rows(times))
    assert found.errors.held_out is not None
    # The fit of the even ones is exact and predicts half of the odd ones' time.
    assert found.errors.held_out.median == pytest.approx(0.5)
    assert found.errors.held_out.n == 6
    assert found.errors.in_sample.n == 12


def test_each_rank_count_is_held_out_in_turn() -> None:
    """Exact times of 2, 4 and 8 ranks predict each other."""
    all_of_them = rows(ring(2), 2) + rows(ring(4), 4) + rows(ring(8), 8)
    held = fit(all_of_them, hold_out="ranks").errors.held_out
    assert held is not None
    assert (held.kind, held.n) == ("ranks", 36)
    assert held.p90 < 1e-9


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("ranks", "hold-out ranks: got one rank count, 8, expected at least two"),
        (
            "collectives",
            "hold-out collectives: got one collective, all_reduce, expected at least",
        ),
        (
            "nodes",
            "hold-out nodes: a row without a file does not say how many nodes; say it with",
        ),
    ],
)
def test_one_of_a_kind_cannot_be_held_out(kind: str, message: str) -> None:
    """An error, because it was asked for."""
    with pytest.raises(InputError) as caught:
        fit(rows(ring()), hold_out=kind)
    assert str(caught.value).startswith(message)


def test_an_unknown_hold_out_names_the_nearest() -> None:
    """A slip of the pen is answered."""
    with pytest.raises(UnknownNameError, match="did you mean 'sizes'"):
        fit(rows(ring()), hold_out="size")


def test_an_unknown_algorithm_names_the_nearest() -> None:
    """As everywhere."""
    with pytest.raises(CollsimError, match="did you mean 'ring'"):
        fit(rows(ring()), algorithm="rng")


def test_the_profile_says_where_it_came_from(
    synthetic: ModuleType, write: Callable[..., str]
) -> None:
    """File, library, process model, device, ranks, sizes."""
    path = write(synthetic.log("all_gather", 8, hosts=2, alpha=1e-6, beta=1e-11))
    profile = fit(path, name="mine", link_class="nvlink").profile
    assert (profile.name, profile.sources, profile.classes) == ("mine", (path,), ("nvlink",))
    assert (profile.collectives, profile.ranks, profile.nodes) == (("all_gather",), (8,), (2,))
    assert (profile.min_bytes, profile.max_bytes) == (8, 2**33)
    assert (profile.library, profile.device) == ("NCCL 2.26.2", "Made-up GPU")
    assert (profile.clock, profile.process_model) == ("host", "process per GPU")


def test_a_real_ring_is_fitted_well(shared_data: Path) -> None:
    """H100, 8 GPUs, ring forced: two numbers predict unseen sizes to 10 % in nine of ten."""
    found = fit(shared_data / "public" / "219_h100_1n_all_reduce_ring.txt")
    assert found.errors.held_out is not None
    assert found.errors.held_out.p90 < 0.1
    assert 300e9 < 1 / found.parameters["link.beta"].value < 450e9
