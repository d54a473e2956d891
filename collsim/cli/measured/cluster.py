"""The cluster that logs were measured on, as far as a fit depends on it."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

import click

from collsim.errors import InputError

if TYPE_CHECKING:
    from collsim.calibrate.nccl_model import System
    from collsim.core.measurements import Measurements
    from collsim.core.profile import Profile

__all__ = ["Described", "check_size", "described", "given", "placed"]


def given(name: str) -> bool:
    """Return whether somebody gave an option, rather than its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not click.core.ParameterSource.DEFAULT


class Described(TypedDict, total=False):
    """What a fit is told of a cluster, as keywords of :func:`collsim.fit`."""

    model: str
    cluster: str
    link_class: str
    system: "System"
    sheet: tuple[str, float] | None


def described(machine: str, measured: "Measurements", model: str, named: bool) -> Described:
    """Return what a fit is told of a cluster: its name, and its system or class of links.

    Parameters
    ----------
    machine : str
        Name or file of the cluster.
    measured : Measurements
        What was measured on it; their nodes count.
    model : {"auto", "nccl", "line"}
        What is to be fitted.
    named : bool
        Whether an algorithm or a number of chunks was named, which a line of one node is of.

    Raises
    ------
    InputError
        If a line is to be fitted, and the cluster has links of several classes.
    """
    nodes = max((row.nodes or 1 for row in measured), default=1)
    if model == "line" or (model == "auto" and named and nodes == 1):
        return {"cluster": machine, "link_class": _link_class(machine)}
    from collsim.calibrate.nccl_model import system_of
    from collsim.core.cluster import Cluster

    cluster = Cluster.load(machine)
    if nodes > cluster.nodes:
        cluster = Cluster.load(machine, nodes=nodes)
    try:
        return {"cluster": machine, "system": system_of(cluster), "sheet": _sheet(machine)}
    except InputError:
        if model == "nccl":
            raise
        return {"cluster": machine, "link_class": _link_class(machine), "model": "line"}


def _sheet(machine: str) -> tuple[str, float] | None:
    """Return the links by which a GPU reaches its node, and their bytes/s together."""
    from collsim.core.cluster import Cluster

    links = Cluster.load(machine, nodes=1).links
    if links.tail is None:
        return None
    own = [links.classes[links.kind[i]] for i in range(len(links.names)) if links.tail[i] == 0]
    names = ", ".join(dict.fromkeys(link.name for link in own))
    return (names, sum(link.bandwidth for link in own)) if own else None


def placed(measured: "Measurements", machine: str) -> "Measurements":
    """Return rows that say on how many nodes they were measured, if the cluster tells it.

    Where a log does not say it, ranks fill nodes of the cluster one by one.
    """
    from collsim.core.cluster import Cluster

    if all(row.nodes is not None for row in measured):
        return measured
    cluster = Cluster.load(machine)
    gpus = cluster.ranks // cluster.nodes
    rows = [
        row if row.nodes is not None else replace(row, nodes=-(-row.ranks // gpus))
        for row in measured
    ]
    return replace(measured, rows=tuple(rows))


def _link_class(machine: str) -> str:
    """Return the class of a cluster's links, or raise InputError if there are several."""
    from collsim.core.cluster import Cluster

    cluster = Cluster.load(machine)
    classes = [link.name for link in cluster.links.classes]
    if len(classes) == 1 and cluster.nodes == 1 and cluster.uniform is None:
        raise InputError(
            f"cluster {machine}: a GPU has several links of {classes[0]} at once, and one line "
            "is of one; leave -c out, and the line is of an ideal network"
        )
    if len(classes) != 1 or cluster.uniform is None:
        raise InputError(
            f"cluster {machine}: has links of {', '.join(classes)} and {cluster.nodes} nodes; "
            "one line is of one class of links, expected one node of one class, or --model nccl"
        )
    return classes[0]


def check_size(profile: "Profile", machine: str) -> None:
    """Refuse rows that a cluster cannot have made."""
    from collsim.core.cluster import Cluster

    most = max(profile.nodes, default=1)
    if profile.model == "line" and most > 1:
        raise InputError(
            f"rows of {most} nodes: one line is of one class of links; fit one node of "
            f"{machine} with --where 'nodes == 1', or --model nccl, or without -c"
        )
    # The loader refuses more ranks than a node has.
    if most == 1:
        Cluster.load(machine, ranks=max(profile.ranks))
