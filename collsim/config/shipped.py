"""Which profiles ship for a cluster, without reading all that they say."""

import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from collsim.config.presets import preset_names, preset_path

__all__ = ["Shipped", "profile_for", "shipped_profiles"]


@dataclass(frozen=True)
class Shipped:
    """What a profile that ships was fitted to.

    Parameters
    ----------
    name, cluster : str
        Of the profile, and of the preset that was measured.
    collectives : tuple of str
        What was measured.
    ranks, nodes : tuple of int
        On how many.
    """

    name: str
    cluster: str
    collectives: tuple[str, ...]
    ranks: tuple[int, ...]
    nodes: tuple[int, ...]


def shipped_profiles() -> Iterator[Shipped]:
    """Yield what profiles ship, by the alphabet.

    Only the keys before the first table are read: parameters and sources take longer than
    a small prediction does.

    Examples
    --------
    >>> [one.name for one in shipped_profiles() if one.cluster == "dgx-h100"]
    ['h100-ndr', 'h100-nvswitch-8']
    """
    for name in preset_names("profiles"):
        text = preset_path("profiles", name).read_text("utf-8")
        head = tomllib.loads(text.partition("\n[")[0])
        yield Shipped(
            name,
            head["cluster"],
            tuple(head["collectives"]),
            tuple(head["ranks"]),
            tuple(head["nodes"]),
        )


def profile_for(cluster: str, collectives: Collection[str], nodes: int) -> str | None:
    """Return the profile that ships and has times of a cluster, or None.

    One of so many nodes is preferred; one of several nodes has those of others, as it says.

    Parameters
    ----------
    cluster : str
        Name of a preset.
    collectives : collection of str
        Of which at least one was measured.
    nodes : int
        Of the cluster.

    Examples
    --------
    >>> profile_for("dgx-h100", ["all_reduce"], 1), profile_for("dgx-h100", ["all_reduce"], 4)
    ('h100-nvswitch-8', 'h100-ndr')
    >>> profile_for("dgx-h100", ["broadcast"], 1) is None
    True
    """
    found = [
        one
        for one in shipped_profiles()
        if one.cluster == cluster and not set(collectives).isdisjoint(one.collectives)
    ]
    exact = [one for one in found if nodes in one.nodes]
    several = [one for one in found if nodes > 1 and max(one.nodes) > 1]
    return next((one.name for one in (*exact, *several)), None)
