"""Free chunks: counts and parameters are found together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collsim.calibrate.check import check
from collsim.calibrate.fit import fit
from collsim.calibrate.fit.estimate import estimate
from collsim.calibrate.formula import chunks_of, formula_of
from collsim.choose.predict import predict
from collsim.config.fitted import own_cluster
from collsim.config.profile import dumps, loads
from collsim.core.measurements import Measurement, Measurements
from collsim.errors import InputError

SIZES = tuple(8 * 2**k for k in range(31))


def rows(
    collective: str, ranks: int, alpha: float, beta: float, chunks: int | str = "auto"
) -> Measurements:
    """Return rows as the model makes them."""
    model = formula_of(alpha, beta, 0.0, "ring", chunks)  # type: ignore[arg-type]
    return Measurements(
        Measurement(collective, ranks, n, model(collective, ranks, n).seconds) for n in SIZES
    )


@given(
    alpha=st.floats(1e-7, 1e-4),
    bandwidth=st.floats(1e9, 5e12),
    ranks=st.integers(2, 64),
    name=st.sampled_from(["broadcast", "reduce"]),
)
def test_free_chunks_give_the_parameters_back(
    alpha: float, bandwidth: float, ranks: int, name: str
) -> None:
    """From a log of a pipelined ring whose chunk count is the best at each size."""
    found = estimate(list(rows(name, ranks, alpha, 1 / bandwidth)), "ring", "auto")
    assert found.settled
    assert found.values == pytest.approx((0.0, alpha, 1 / bandwidth), rel=1e-6)


def test_fixed_chunks_give_the_parameters_back() -> None:
    """4 chunks everywhere; the profile says so."""
    found = fit(rows("broadcast", 8, 2e-6, 4e-12, chunks=4), chunks=4)
    assert found.parameters["link.alpha"].value == pytest.approx(2e-6)
    assert found.parameters["link.beta"].value == pytest.approx(4e-12)
    assert found.profile.chunks == 4


def test_the_best_count_follows_the_root_of_the_size() -> None:
    """(P-2+c)(alpha + n beta / c) is least at c = sqrt((P-2) n beta / alpha)."""
    counts = [chunks_of("broadcast", "ring", 6, 4**k, (0.0, 1.0, 1.0)) for k in range(6)]
    assert counts == [1, 4, 8, 16, 32, 64]
    assert chunks_of("all_reduce", "ring", 6, 4**9, (0.0, 1.0, 1.0)) == 1


@pytest.mark.parametrize("chunks", ["auto", 1, 8])
def test_fit_check_and_predict_agree(chunks: int | str) -> None:
    """The same time at every size, by the profile's chunks."""
    measured = rows("broadcast", 8, 5e-6, 3e-12)
    found = fit(measured, chunks=chunks)  # type: ignore[arg-type]
    profile = loads(dumps(found.profile), "p.toml")
    assert profile.chunks == chunks
    checked = [row.predicted_us for row in check(measured, profile).rows]
    answer = predict(
        "broadcast",
        own_cluster(profile),
        SIZES,
        "ring",
        chunks=profile.chunks,
    )
    assert checked == pytest.approx([row.time_us for row in answer.rows], rel=1e-12)
    assert checked == pytest.approx([seconds * 1e6 for seconds in found.predicted], rel=1e-12)


def test_counts_that_lead_in_a_circle_end_with_the_best() -> None:
    """Times that no chunk count explains; the answer is the same each time."""
    odd = [
        Measurement("broadcast", 16, n, (1e-5 + n * 1e-11) * (3 if k % 2 else 0.5))
        for k, n in enumerate(SIZES)
    ]
    one, other = (estimate(odd, "ring", "auto") for _ in range(2))
    assert one == other
    assert one.values[2] > 0


def test_a_note_says_if_they_did_not_settle() -> None:
    """It names the option that fixes the count."""
    noise = [0.7, 1.3, 1.25, 0.75, 0.8, 1.28, 0.72, 1.1]
    for alpha in (1e-5 * 1.01**k for k in range(400)):
        found = [
            Measurement("broadcast", 8, r.nbytes, r.seconds * noise[i % 8])
            for i, r in enumerate(rows("broadcast", 8, alpha, 2e-13))
        ]
        if not estimate(found, "ring", "auto").settled:
            notes = " ".join(fit(Measurements(found)).profile.notes)
            assert "did not settle" in notes
            assert "--chunks N fixes the count" in notes
            return
    pytest.fail("all of them settled")


def test_chunks_where_nothing_is_cut_are_refused() -> None:
    """As predict does; a profile with chunks may still be used there."""
    with pytest.raises(InputError, match=r"all_reduce/ring sends each message whole, got 4"):
        fit(rows("all_reduce", 8, 1e-6, 1e-11), chunks=4)
    with pytest.raises(InputError, match="chunks: got 0, expected auto or a whole number"):
        fit(rows("broadcast", 8, 1e-6, 1e-11), chunks=0)
