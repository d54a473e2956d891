"""Names of parameters and their units."""

from __future__ import annotations

import pytest

from collsim.core.cluster import Cluster
from collsim.core.parameter import LINE_UNITS, Parameter, parameter_unit
from collsim.core.profile import Profile
from collsim.errors import InputError, UnknownNameError


@pytest.mark.parametrize(
    ("key", "unit"),
    [("launch", "s"), ("inside.ll.alpha", "s"), ("between.simple.beta", "s/B"),
     ("inside.ll.quantum", "B"), ("nvls.simple.efficiency", "1"), ("p2p.setup", "s")],
)  # fmt: skip
def test_the_last_part_tells_the_unit(key: str, unit: str) -> None:
    """Of profiles of NCCL."""
    assert parameter_unit(key) == unit


@pytest.mark.parametrize("key", ["inside.ll.quantum", "a.b.c.alpha", "alpha", "a.launch"])
def test_a_line_has_alpha_and_beta_only(key: str) -> None:
    """The error says what there is."""
    with pytest.raises(InputError, match=r"followed by \.alpha, \.beta or \.alpha_busy"):
        parameter_unit(key, LINE_UNITS)


def test_a_profile_of_nccl_says_all_of_the_system() -> None:
    """A key that is missing, unknown or of another kind is named."""
    one = {"launch": Parameter(1e-6, None, None, "s")}
    with pytest.raises(InputError, match="nccl: got no version"):
        Profile("mine", one, model="nccl")
    with pytest.raises(InputError, match="with model line"):
        Profile("mine", one, nccl={"version": "2.30"})
    with pytest.raises(UnknownNameError, match="model"):
        Profile("mine", one, model="ncl")


def test_facts_are_of_their_kind() -> None:
    """Whole numbers, texts and flags."""
    from collsim.calibrate.nccl_model import example_profile

    good = example_profile(Cluster.load("dgx-h100"))
    with pytest.raises(InputError, match=r"nccl\.channels: got 1\.5, expected a whole number"):
        Profile("x", good.parameters, model="nccl", nccl={**good.nccl, "channels": 1.5})
    with pytest.raises(InputError, match=r"nccl\.nvls: got 1, expected true or false"):
        Profile("x", good.parameters, model="nccl", nccl={**good.nccl, "nvls": 1})
    with pytest.raises(UnknownNameError, match="key of nccl"):
        Profile("x", good.parameters, model="nccl", nccl={**good.nccl, "nvl": True})
