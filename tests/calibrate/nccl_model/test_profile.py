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


def test_sources_of_what_is_believed() -> None:
    """NCCL's constants, the bandwidth, the schedule, or no more than an order of magnitude."""
    found = example_profile(Cluster.load("dgx-h100", nodes=2)).parameters
    constants = "NCCL 2.30.7 src/graph/tuning.cc"
    said = {
        "launch": constants,
        "inside.ll.alpha": constants,
        "between.simple.alpha_busy": constants,
        "between.p2p.alpha": constants,
        "nvls.simple.efficiency": constants,
        "inside.simple.beta": f"the system's bandwidth, as {constants} reckons with it",
        "p2p.simple.beta": f"the system's bandwidth, as {constants} reckons with it",
        "tree.alpha_ratio": "1 by the schedule",
        "p2p.ll.alpha": "its order of magnitude only",
        "inside.simple.extra": "its order of magnitude only",
        "between.ll.rendezvous": "its order of magnitude only",
    }
    assert {key: found[key].source for key in said} == said
    assert {one.kind for one in found.values()} == {"assumption"}
    one = example_profile(Cluster.load("dgx-a100")).parameters
    for key in ("inside.ll.reduce_alpha", "inside.ll.fused_beta"):
        assert one[key].source == "1 by the schedule"


def test_what_is_believed_is_so_in_both() -> None:
    """A parameter whose value or whose width has moved is fitted."""
    believed = fitted_of(example_profile(Cluster.load("dgx-h100")))
    key = "launch"
    for moved in (
        replace(believed, values=believed.values | {key: 1.01 * believed.values[key]}),
        replace(believed, log_sigma=believed.log_sigma | {key: 0.9 * believed.log_sigma[key]}),
    ):
        one = parameters_of(moved)[key]
        assert (one.kind, one.source) == ("fit", None)


def test_an_interval_is_that_of_its_logarithm() -> None:
    """95 %: 1.96 sigma either way, and back."""
    profile = example_profile(Cluster.load("dgx-h100"))
    one = profile.parameters["launch"]
    assert one.low is not None
    assert one.high is not None
    assert math.isclose(one.high / one.value, math.exp(1.96 * 0.5))
    assert math.isclose(one.value / one.low, math.exp(1.96 * 0.5))
    assert math.isclose(fitted_of(profile).log_sigma["launch"], 0.5)


@pytest.mark.parametrize(("low", "high"), [(None, None), (0.0, 1.0), (1.0, 1.0)])
def test_an_interval_that_says_nothing_leaves_what_was_believed(
    low: float | None, high: float | None
) -> None:
    """Missing, from 0, or of no width."""
    profile = example_profile(Cluster.load("dgx-h100"))
    one = replace(profile.parameters["launch"], low=low, high=high, value=1.0)
    changed = replace(profile, parameters=profile.parameters | {"launch": one})
    assert fitted_of(changed).log_sigma["launch"] == 0.5


def test_ratios_may_be_missing() -> None:
    """Without them the pieces count as the schedule says; what has a size must be there."""
    profile = example_profile(Cluster.load("dgx-h100"))
    optional = {key for key in profile.parameters if "ratio" in key or "fused" in key}
    few = {key: one for key, one in profile.parameters.items() if key not in optional}
    assert optional
    assert not optional & set(fitted_of(replace(profile, parameters=few)).values)
    for key in ("inside.ll.reduce_fill", "nvls.simple.loop", "p2p.simple.local"):
        rest = {name: one for name, one in profile.parameters.items() if name != key}
        with pytest.raises(InputError, match=f"^profile example: has no parameter {key}$"):
            fitted_of(replace(profile, parameters=rest))


def test_ranks_that_span_other_links_are_those_of_the_profile() -> None:
    """On a PCIe tree every rank count beyond the fewest has ratios of its own."""
    profile = replace(example_profile(Cluster.load("pcie-8")), ranks=(2, 4, 8))
    one = replace(profile.parameters["tree.alpha_ratio"], value=2.5)
    spans = {"span4.alpha_ratio": one, "span8.ll.beta_ratio": one}
    found = fitted_of(replace(profile, parameters=profile.parameters | spans))
    assert (found.values["span4.alpha_ratio"], found.values["span8.ll.beta_ratio"]) == (
        2.5,
        2.5,
    )
    assert {key for key in found.values if key.startswith("span")} == set(spans)
