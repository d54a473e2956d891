"""Changes to a cluster's file that a profile's numbers would undo, which are refused."""

from collections.abc import Iterator
from typing import Final

from collsim.config.spec import link_keys
from collsim.core.cluster import Cluster
from collsim.core.profile import Profile
from collsim.errors import InputError

__all__ = ["refuse_replaced"]

_RATES: Final = "alpha and bandwidth"
# Of one node whose links a profile puts an ideal network in place of, these are kept.
_KEPT: Final = ("gpus", "sides", "multicast", "multicast_efficiency")


def refuse_replaced(cluster: Cluster, profile: Profile, *, links_stay: bool) -> None:
    """Refuse a cluster that was told what the profile has its own numbers of.

    Parameters
    ----------
    cluster : Cluster
        As loaded; its `changed` are the keys.
    profile : Profile
        Whose numbers are to be put in.
    links_stay : bool
        Whether its links get other numbers; else an ideal network takes their place.

    Raises
    ------
    InputError
        For a change that would be lost; names the key, and what the profile has.

    Examples
    --------
    >>> from collsim.config.profile_file import load_profile
    >>> slow = Cluster.load("dgx-h100", changes={"node.bandwidth": "100GB/s"})
    >>> refuse_replaced(slow, load_profile("h100-nvswitch-8"), links_stay=False)
    Traceback (most recent call last):
      ...
    collsim.errors.InputError: set: got node.bandwidth, but profile h100-nvswitch-8 has a \
fitted bandwidth, which would replace it; expected one of them, --set or --profile \
(--degrade leaves a share of a fitted bandwidth)
    """
    for key, what in _lost(cluster, links_stay):
        raise InputError(
            f"set: got {key}, but profile {profile.name} has a fitted {what}, which would "
            "replace it; expected one of them, --set or --profile (--degrade leaves a share "
            "of a fitted bandwidth)"
        )


def _lost(cluster: Cluster, links_stay: bool) -> Iterator[tuple[str, str]]:
    """Yield keys that are lost, each with what a profile has in place of its number."""
    links = link_keys()
    for key in cluster.changed:
        table, _, rest = key.partition(".")
        first, _, number = rest.partition(".")
        if table == "cost" and first == "launch":
            yield key, first
        elif table == "cost" and not links_stay:
            yield key, "time per byte, with what reducing takes in it"
        if table not in ("node", "network", "*") or (table == "network" and cluster.nodes == 1):
            continue
        if first == "nics":
            yield key, "bandwidth of all NICs of a node together"
        # Cables between switches keep their part in what cards move, and links how long
        # of their alpha they are held.
        if first == "trunk_link" or (links_stay and key.endswith("alpha_busy")):
            continue
        if first in ("alpha", "bandwidth", "alpha_busy"):
            yield key, first
        elif first in links:
            yield key, number or _RATES
        elif table == "node" and not links_stay and first not in _KEPT:
            yield key, f"{_RATES} of a node's links, which are then of an ideal network"
