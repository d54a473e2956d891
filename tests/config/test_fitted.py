"""Profiles put into clusters."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.algorithms import build
from collsim.config.cluster import load
from collsim.config.fitted import own_cluster, with_profile
from collsim.core.profile import Parameter, Profile
from collsim.engine.simulate import simulate
from collsim.errors import InputError

NUMBERS = {
    "link.alpha": Parameter(2e-6, None, None, "s"),
    "link.beta": Parameter(4e-12, None, None, "s/B"),
    "launch": Parameter(5e-6, None, None, "s"),
}


def profile(**other: Any) -> Profile:
    """Return a profile of one class of links."""
    return Profile("mine", **{"parameters": NUMBERS, **other})


def test_own_cluster_is_ideal() -> None:
    """With its numbers, as many ranks as were measured at most, or as asked for."""
    cluster = own_cluster(profile(ranks=(2, 4)))
    assert cluster.uniform == pytest.approx((2e-6, 4e-12), rel=1e-12)
    assert (cluster.launch, cluster.ranks, cluster.name) == (5e-6, 4, "mine")
    assert own_cluster(profile(ranks=(2, 4)), ranks=16).ranks == 16
    assert own_cluster(profile()).ranks == 8


def test_own_cluster_may_be_a_preset() -> None:
    """Its shape and name stay, its numbers don't."""
    cluster = own_cluster(profile(cluster="dgx-h100"), ranks=4)
    assert cluster.uniform == pytest.approx((2e-6, 4e-12), rel=1e-12)
    assert (cluster.name, cluster.ranks, cluster.multicast) == ("dgx-h100", 4, True)


def test_the_switch_of_a_cluster_still_takes_part() -> None:
    """At its efficiency, 0.85; messages between ranks cost what the profile says."""
    cluster = with_profile(load("dgx-h100", ranks=4), profile())
    nvls = build("all_reduce", "nvls", 4, multicast=cluster.setting.multicast)
    found = simulate(nvls, cluster, 1e6).makespan
    assert found == pytest.approx(5e-6 + 2 * 2e-6 + 2.5e6 * 4e-12 / 0.85, rel=1e-9)
    ideal = own_cluster(profile(), ranks=4)
    for name in ("ring", "mst", "two_shot"):
        schedule = build("all_reduce", name, 4)
        same = [simulate(schedule, where, 1e6).makespan for where in (cluster, ideal)]
        assert same[0] == pytest.approx(same[1], rel=1e-12)


def test_alpha_busy_comes_along() -> None:
    """Latency that overlaps makes the formulas inexact."""
    busy = {**NUMBERS, "link.alpha_busy": Parameter(0.0, None, None, "s")}
    cluster = own_cluster(profile(parameters=busy))
    assert (cluster.uniform, cluster.least_busy) == (None, 0.0)


def test_ideal_network_has_no_nodes() -> None:
    """The message names the cure."""
    with pytest.raises(InputError, match=r"nodes: got 2, but profile mine .* with ranks"):
        own_cluster(profile(), nodes=2)


def test_several_kinds_of_links_need_several_numbers() -> None:
    """One class of links says nothing about the network between nodes."""
    with pytest.raises(InputError, match="cluster dgx-h100 has links of nvlink4, ndr400"):
        with_profile(load("dgx-h100", nodes=2), profile())


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({**NUMBERS, "link.beta": Parameter(0.0, None, None, "s/B")}, "beta is 0"),
        ({"link.alpha": NUMBERS["link.alpha"]}, "expected one class of links"),
    ],
)
def test_incomplete_numbers_are_refused(numbers: dict[str, Parameter], message: str) -> None:
    """By the profile's name."""
    with pytest.raises(InputError, match=f"profile mine: .*{message}"):
        own_cluster(profile(parameters=numbers))
