"""Changes to a cluster's file beside a profile's numbers."""

from __future__ import annotations

from typing import Any

import pytest

import collsim
from collsim.core.cluster import Cluster
from collsim.core.parameter import Parameter
from collsim.core.profile import Profile
from collsim.errors import InputError

LINE = Profile(
    "mine",
    {
        "link.alpha": Parameter(1e-6, None, None, "s"),
        "link.beta": Parameter(1e-11, None, None, "s/B"),
    },
)
NDR: dict[str, Any] = {"name_or_path": "dgx-h100", "nodes": 2}
ONE: dict[str, Any] = {"name_or_path": "dgx-h100"}


@pytest.mark.parametrize(
    ("size", "profile", "key", "value", "has"),
    [
        (NDR, "h100-ndr", "network.bandwidth", "10GB/s", "bandwidth"),
        (NDR, "h100-ndr", "network.alpha", "50us", "alpha"),
        (NDR, "h100-ndr", "network.link", "roce100", "alpha and bandwidth"),
        (NDR, "h100-ndr", "network.link.bandwidth", "10GB/s", "bandwidth"),
        (NDR, "h100-ndr", "network.nics", 4, "bandwidth of all NICs of a node together"),
        (NDR, "h100-ndr", "node.bandwidth", "10GB/s", "bandwidth"),
        (NDR, "h100-ndr", "cost.launch", "1ms", "launch"),
        (ONE, "h100-nvswitch-8", "node.bandwidth", "10GB/s", "bandwidth"),
        (ONE, "h100-nvswitch-8", "node.alpha", "50us", "alpha"),
        (ONE, "h100-nvswitch-8", "node.link", "nvlink3", "alpha and bandwidth"),
        (ONE, LINE, "node.alpha_busy", "0us", "alpha_busy"),
        (ONE, LINE, "cost.gamma", "0.001ns/B", "time per byte, with what reducing takes"),
        ({"name_or_path": "pcie-8"}, LINE, "node.socket.bandwidth", "1GB/s", "bandwidth"),
        (
            {"name_or_path": "gh200-slingshot"},
            LINE,
            "node.lanes",
            2,
            "alpha and bandwidth of a node's links, which are then of an ideal network",
        ),
    ],
)
def test_what_a_profile_would_replace_is_refused(
    size: dict[str, Any], profile: str | Profile, key: str, value: object, has: str
) -> None:
    """It changes times without the profile, whose numbers would come after it."""
    cluster = Cluster.load(**size, changes={key: value})
    with pytest.raises(InputError) as error:
        collsim.with_profile(cluster, profile)
    name = profile if isinstance(profile, str) else profile.name
    text = str(error.value)
    assert text.startswith(f"set: got {key}, but profile {name} has a fitted {has}")
    assert "expected one of them, --set or --profile" in text
    assert "\n" not in text


def test_a_cluster_of_the_profile_refuses_them_too() -> None:
    """As `--profile` without `-c`."""
    with pytest.raises(InputError, match=r"got node\.alpha, but profile h100-nvswitch-8"):
        collsim.own_cluster("h100-nvswitch-8", changes={"node.alpha": "1us"})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("network.oversubscription", 8),
        ("network.sharing", "fair"),
        ("network.alpha_busy", "0us"),
        ("node.gpus", 4),
    ],
)
def test_what_a_profile_leaves_alone_has_its_effect(key: str, value: object) -> None:
    """Times differ from those without it."""
    plain, other = (
        collsim.with_profile(Cluster.load(**NDR, changes=changes), "h100-ndr")
        for changes in (None, {key: value})
    )
    times = [
        [row.time_us for row in collsim.predict("all_reduce", one, [8, 2**30], "ring").rows]
        for one in (plain, other)
    ]
    assert times[0] != times[1]


def test_a_network_that_one_node_lacks_is_no_contradiction() -> None:
    """The command line says that it changes nothing there."""
    cluster = Cluster.load("dgx-h100", changes={"network.bandwidth": "10GB/s"})
    assert cluster.changed == ("network.bandwidth",)
    assert collsim.with_profile(cluster, "h100-nvswitch-8").ranks == 8


@pytest.mark.parametrize("sharing", ["fair", "fifo"])
def test_sharing_that_is_set_stays(sharing: str) -> None:
    """Though a line's numbers make the cluster anew."""
    cluster = Cluster.load("dgx-h100", changes={"sharing": sharing})
    assert collsim.with_profile(cluster, LINE).sharing == sharing
