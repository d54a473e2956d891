"""Put a profile's fitted numbers into a cluster."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from collsim.config.cluster import load
from collsim.config.fitted_nccl import spread
from collsim.config.profile_file import load_profile
from collsim.config.replaced import refuse_replaced
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.profile import Profile
from collsim.errors import InputError
from collsim.topology.switch import switch

__all__ = ["IDEAL", "own_cluster", "with_profile"]

IDEAL: Final = "ideal"
"""Cluster of a profile that is of no machine with a preset."""
_RANKS: Final = 8


@checked
def own_cluster(
    profile: Profile | str | os.PathLike[str],
    nodes: int | None = None,
    gpus_per_node: int | None = None,
    ranks: int | None = None,
    changes: Mapping[str, object] | None = None,
) -> Cluster:
    """Return the cluster that a profile was fitted on, with its numbers.

    Parameters
    ----------
    profile : Profile, str or path
        Of one class of links; or the name or file of one.
    nodes, gpus_per_node : int, optional
        Override the size of the cluster that it names.
    ranks : int, optional
        Rank count; of an ideal network by default the largest that was measured.
    changes : dict of str, optional
        As in :func:`collsim.config.cluster.load`.

    Returns
    -------
    Cluster
        As :func:`with_profile` gives it.

    Raises
    ------
    InputError
        If the profile has no such cluster or size.
    UnknownNameError, FileError, ConfigError
        If there is no such profile.

    Examples
    --------
    >>> from collsim.core.profile import Parameter
    >>> ab = {"link.alpha": Parameter(1e-6, None, None, "s"),
    ...       "link.beta": Parameter(1e-11, None, None, "s/B")}
    >>> own_cluster(Profile("mine", ab, ranks=(4, 8))).ranks
    8
    >>> own_cluster("h100-nvswitch-8").name
    'dgx-h100'
    """
    if not isinstance(profile, Profile):
        profile = load_profile(profile)
    if profile.cluster != IDEAL:
        size = {"nodes": nodes, "gpus_per_node": gpus_per_node, "ranks": ranks}
        return with_profile(load(profile.cluster, **size, changes=changes), profile)
    for name, value in (("nodes", nodes), ("gpus_per_node", gpus_per_node)):
        if value is not None:
            raise InputError(
                f"{name}: got {value}, but profile {profile.name} is of an ideal network; "
                "give its size with ranks (--ranks), or a cluster (-c)"
            )
    if changes:
        raise InputError(
            f"set: got {next(iter(changes))}, but profile {profile.name} is of an ideal "
            "network; expected a cluster (-c)"
        )
    if ranks is None:
        ranks = max(profile.ranks, default=_RANKS)
    network = _uniform(profile, ranks, profile.name)
    if profile.nccl.get("nvls") and ranks > 1:
        return _on_switch(network, min(1.0, profile.value("nvls.simple.efficiency")))
    return network


@checked
def with_profile(cluster: Cluster, profile: Profile | str | os.PathLike[str]) -> Cluster:
    """Return a cluster with the numbers of a profile, as ``--profile`` on the command line.

    Parameters
    ----------
    cluster : Cluster
        The machine that the profile was fitted on, of any size that it holds for.
    profile : Profile, str or path
        One that :func:`collsim.fit` found, or the name or file of one.

    Returns
    -------
    Cluster
        The same ranks and nodes; alpha, beta and launch are the fitted ones.

    Raises
    ------
    InputError
        If the links of the cluster are not all of one class, which a profile of lines is of;
        if a profile of one node is put into a cluster of several; if the cluster was loaded
        with changes that the profile's numbers would replace.
    UnknownNameError, FileError, ConfigError
        If there is no such profile.

    Notes
    -----
    Before what is slow, broken or late: numbers are put in place of those that are there, so
    ``degrade`` and the like come after. A profile of NCCL's own pieces has more to say than a
    cluster holds; :func:`collsim.fitted_times` gives that to ``predict``. The command line
    refuses it on another machine than its own; here nobody looks.

    Examples
    --------
    >>> from collsim.core.profile import Parameter
    >>> ab = {"link.alpha": Parameter(1e-6, None, None, "s"),
    ...       "link.beta": Parameter(1e-11, None, None, "s/B")}
    >>> with_profile(load("dgx-h100"), Profile("mine", ab)).uniform
    (1e-06, 1e-11)
    >>> fitted = with_profile(load("dgx-h100"), "h100-nvswitch-8")
    >>> round(1e-9 / fitted.uniform[1])
    370
    """
    if not isinstance(profile, Profile):
        profile = load_profile(profile)
    links_stay = profile.model == "nccl" and (cluster.nodes > 1 or cluster.uniform is None)
    if cluster.changed:
        refuse_replaced(cluster, profile, links_stay=links_stay)
    if links_stay:
        return spread(cluster, profile)
    classes = [link.name for link in cluster.links.classes]
    if len(classes) != 1 or (cluster.uniform is None and cluster.nodes > 1):
        raise InputError(
            f"profile {profile.name}: has numbers of {_list(profile.classes)}, but cluster "
            f"{cluster.name} has links of {_list(classes)}; expected one node"
        )
    fitted = _uniform(profile, cluster.ranks, cluster.name)
    if cluster.in_switch is not None and cluster.nodes == 1:
        fitted = _on_switch(fitted, cluster.in_switch.efficiency)
    sharing = cluster.sharing if "sharing" in cluster.changed else fitted.sharing
    return replace(fitted, multicast=cluster.multicast, shape=cluster.shape, sharing=sharing)


def _on_switch(fitted: Cluster, efficiency: float) -> Cluster:
    """Return an ideal network as a switch of equal cost, which takes part in collectives."""
    (link,) = fitted.links.classes
    return switch(
        fitted.ranks,
        link,
        fitted.name,
        launch=fitted.launch,
        multicast=True,
        multicast_efficiency=efficiency,
    )


def _uniform(profile: Profile, ranks: int, name: str) -> Cluster:
    found = profile.uniform
    if found is None:
        raise InputError(
            f"profile {profile.name}: has numbers of {_list(profile.classes)}, expected one "
            "class of links with alpha and beta"
        )
    alpha, beta, launch = found
    if beta == 0:
        raise InputError(f"profile {profile.name}: beta is 0, expected a finite bandwidth")
    key = f"{profile.classes[0] if profile.classes else 'link'}.alpha_busy"
    busy = profile.value(key) if key in profile.parameters else None
    return Cluster.ideal(ranks, alpha, 1.0 / beta, launch=launch, alpha_busy=busy, name=name)


def _list(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names) or "no link"
