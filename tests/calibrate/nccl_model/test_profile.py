"""A fitted system as a profile, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from collsim.calibrate.nccl_model import (
    System,
    example_profile,
    facts_of,
    fit_nccl,
    fitted_of,
    parameters_of,
)
from collsim.config.profile import dumps, loads
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.core.profile import Profile
from collsim.errors import InputError

H100 = System("hopper", 12, 360.0, nvls=True)


def test_a_profile_predicts_as_the_fit_did(measured: Callable[..., list[Measurement]]) -> None:
    """Written, read and made a fit again: the same times, choices and what is not told."""
    rows = measured(0.02, ranks=(2, 8))
    fitted = fit_nccl(rows, H100)
    made = Profile(
        "mine", parameters_of(fitted), model="nccl", ranks=(2, 8), nccl=facts_of(fitted)
    )
    text = dumps(made)
    read = loads(text, "mine.toml")
    assert read == made
    again = fitted_of(read)
    assert again.predict(rows).tolist() == fitted.predict(rows).tolist()
    assert (again.system, again.selector) == (fitted.system, fitted.selector)
    assert set(again.untold) == set(fitted.untold)


def test_what_no_row_depends_on_is_an_assumption(
    measured: Callable[..., list[Measurement]],
) -> None:
    """With its source; what rows move is a fit, with an interval around its value."""
    fitted = fit_nccl(measured(0.02, collectives=("all_gather",)), H100)
    found = parameters_of(fitted)
    assert found["nvls.simple.alpha"].kind == "assumption"
    assert found["nvls.simple.efficiency"].source == "NCCL 2.30.7 src/graph/tuning.cc"
    assert found["inside.ll.alpha"].kind == "fit"
    assert found["inside.ll.alpha"].source is None
    one = found["inside.ll.alpha"]
    assert one.low is not None
    assert one.high is not None
    assert math.isclose(one.value / one.low, one.high / one.value)


def test_other_profiles_are_refused() -> None:
    """Of lines, or without a parameter."""
    profile = example_profile(Cluster.load("dgx-h100"))
    few = {k: p for k, p in profile.parameters.items() if k != "inside.ll.alpha"}
    with pytest.raises(InputError, match=r"has no parameter inside\.ll\.alpha"):
        fitted_of(replace(profile, parameters=few))
    line = {"link.alpha": profile.parameters["inside.ll.alpha"]}
    with pytest.raises(InputError, match="of model line, expected nccl"):
        fitted_of(Profile("line", line))
