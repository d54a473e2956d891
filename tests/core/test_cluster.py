"""Clusters: the ideal network by numbers or by text, and routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from math import inf, nan

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster, Ports
from collsim.core.in_switch import InSwitch
from collsim.engine.simulate import simulate
from collsim.errors import InputError


def test_ideal_network_by_text_is_that_by_numbers() -> None:
    """Units stop at the edge."""
    text = Cluster.ideal(4, "10us", "900GB/s", launch="5us", alpha_busy="1us")
    numbers = Cluster.ideal(4, 1e-5, 9e11, launch=5e-6, alpha_busy=1e-6)
    for one in (text, numbers):
        assert (one.least_alpha, one.least_busy, one.launch) == (1e-5, 1e-6, 5e-6)
        assert one.egress == one.ingress == Ports(1 / 9e11, 1)


def test_formulas_are_exact_on_the_ideal_network_alone() -> None:
    """Where alpha does not hold the port, messages overlap."""
    assert Cluster.ideal(4, 2.0, 4.0).uniform == (2.0, 0.25)
    assert Cluster.ideal(4, 2.0, 4.0, alpha_busy=1.0).uniform is None
    assert Cluster.ideal(4, 0.0, 4.0).uniform == (0.0, 0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ranks": 0}, "ranks: got 0"),
        ({"alpha": -1e-6}, "alpha"),
        ({"alpha": nan}, "alpha"),
        ({"alpha": inf}, "alpha"),
        ({"alpha": "10"}, "10"),
        ({"bandwidth": 0.0}, "bandwidth is 0.0"),
        ({"bandwidth": inf}, "bandwidth is inf"),
        ({"bandwidth": nan}, "bandwidth is nan"),
        ({"bandwidth": -1.0}, "bandwidth is -1.0"),
        ({"bandwidth": True}, "bandwidth: got True"),
        ({"gamma": -1.0}, "gamma"),
        ({"launch": nan}, "launch"),
        ({"alpha_busy": 3.0}, "alpha_busy is 3.0"),
    ],
)
def test_wrong_numbers_are_named(arguments: dict[str, float], message: str) -> None:
    """In one line."""
    values = {"ranks": 4, "alpha": 1.0, "bandwidth": 1.0} | arguments
    with pytest.raises(InputError, match=message) as raised:
        Cluster.ideal(**values)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_routes_are_between_different_ranks() -> None:
    """To itself a rank needs no link."""
    cluster = Cluster.ideal(3, 1.0, 1.0)
    assert cluster.route(1, 1) == ()
    assert cluster.route(0, 2) == (0,)


def test_it_is_frozen_and_checked() -> None:
    """A node for every rank."""
    cluster = Cluster.ideal(3, 1.0, 1.0)
    with pytest.raises(FrozenInstanceError):
        cluster.ranks = 4  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        cluster.node[0] = 1
    with pytest.raises(InputError, match="cluster: node has 2 entries, expected 3"):
        replace(cluster, node=np.zeros(2, dtype=np.int64))


def test_nouns_are_short_in_print() -> None:
    """A line each, not their arrays."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    schedule = build("all_reduce", "ring", 16)
    assert repr(cluster) == (
        "<Cluster dgx-h100: 16 ranks, 2 nodes of 8 GPUs on a switch, one NIC per GPU on rails>"
    )
    assert repr(schedule) == "<Schedule of all_reduce on 16 ranks: 480 operations in 30 rounds>"
    ideal = Cluster.ideal(16, 1e-6, 1e9)
    assert repr(simulate(schedule, ideal, 0)) == (
        "<Timeline of 480 operations in 30 rounds: 30 us>"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"sharing": "fair"},
        {"delay": np.array([0.0, 1e-6])},
        {"local": np.zeros(2, dtype=np.int64)},
    ],
)
def test_formulas_do_not_outlive_what_makes_them_exact(change: dict[str, object]) -> None:
    """A copy of an ideal network that shares, waits or pays for copies is none."""
    ideal = Cluster.ideal(2, 1e-6, 1e9)
    assert ideal.uniform is not None
    assert replace(ideal, **change).uniform is None  # type: ignore[arg-type]


def test_a_switch_of_every_rank_or_of_none() -> None:
    """Links to the switches that take part are as many as ranks."""
    ideal = Cluster.ideal(3, 1.0, 1.0)
    two = InSwitch(np.arange(2), np.arange(2, 4))
    with pytest.raises(InputError, match="in_switch has links of 2 ranks, expected 3"):
        replace(ideal, in_switch=two)


@pytest.mark.parametrize(
    ("module", "make"),
    [
        ("topology.ideal.ideal", lambda: Cluster.ideal(2, 1.0, 1.0)),
        ("config.cluster.load", lambda: Cluster.load("dgx-h100")),
    ],
)
def test_who_makes_clusters_must_return_one(
    monkeypatch: pytest.MonkeyPatch, module: str, make: Callable[[], Cluster]
) -> None:
    """It is looked up by name, so no type checker sees it."""
    file = "/".join(module.split(".")[:2])
    monkeypatch.setattr(f"collsim.{module}", lambda *_, **__: None)
    with pytest.raises(TypeError, match=f"{file}.py must return a Cluster"):
        make()
