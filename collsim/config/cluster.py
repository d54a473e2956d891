"""Clusters by the name of a preset or from a file, at the size that is asked for."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from collsim.config.presets import is_path, preset_names, preset_path
from collsim.config.spec import ClusterSpec, Network, parse_spec, read_spec
from collsim.core.cluster import Cluster
from collsim.errors import ConfigError, InputError, UsageError
from collsim.topology import first_ranks, with_local
from collsim.units import MAX_RANKS

__all__ = ["find_spec", "load", "parse"]


def load(
    name_or_path: str | os.PathLike[str],
    *,
    nodes: int | None = None,
    gpus_per_node: int | None = None,
    ranks: int | None = None,
    changes: Mapping[str, object] | None = None,
) -> Cluster:
    """Return a preset by name, or read a cluster file.

    Parameters
    ----------
    name_or_path : str or path
        A preset's name, or a file: what ends in ``.toml`` or has a slash.
    nodes, gpus_per_node : int, optional
        Override its size.
    ranks : int, optional
        Take so many GPUs of one node; of an ideal network, any number.
    changes : dict of str, optional
        What to read in place of the file's values, by dotted key; sizes that are given
        beside them hold.

    Raises
    ------
    UnknownNameError
        If there is no preset of that name.
    FileError, ConfigError
        If the file can't be read or understood.
    InputError
        If the cluster has no such size.
    UsageError
        If both `ranks` and `nodes` are given.

    Examples
    --------
    >>> load("dgx-h100", nodes=4).shape
    '4 nodes of 8 GPUs on a switch, one NIC per GPU on rails'
    >>> load("dgx-h100", ranks=2).shape
    '2 GPUs of one node, 8 GPUs on a switch'
    >>> load("textbook-h100", ranks=6).uniform
    (1e-05, 1.1111111111111112e-12)
    >>> load("dgx-h100", changes={"node.gpus": 4}).ranks
    4
    """
    if ranks is not None and nodes is not None:
        raise UsageError(
            "ranks (--ranks) takes GPUs of one node, so it can't go with nodes (--nodes)"
        )
    for what, value in {"nodes": nodes, "gpus_per_node": gpus_per_node, "ranks": ranks}.items():
        _check_count(what, value)
    spec = find_spec(name_or_path, changes)
    network = spec.network
    values = dict(spec.values)
    if spec.elastic and ranks is not None:
        values["gpus"] = ranks
    elif gpus_per_node is not None:
        values, network = _resize(spec, gpus_per_node)
    if nodes is None:
        nodes = network.nodes if network is not None and ranks is None else 1
    if nodes > 1 and network is None:
        raise _unjoined(spec, nodes)
    cluster = _build(spec, values, network, nodes, ranks)
    return replace(cluster, changed=tuple(changes)) if changes else cluster


def parse(text: str, file: str) -> Cluster:
    r"""Return one node of the cluster that the text of a cluster file describes.

    Parameters
    ----------
    text : str
        TOML.
    file : str
        What errors call it.

    Examples
    --------
    >>> node = 'shape = "switch"\ngpus = 4\nlink = "nvlink4"'
    >>> parse(f'schema = "collsim/cluster/1"\nname = "my"\n[node]\n{node}', "my.toml").ranks
    4
    """
    spec = parse_spec(file, text)
    return _build(spec, spec.values, None, 1, None)


def find_spec(
    name_or_path: str | os.PathLike[str], changes: Mapping[str, object] | None = None
) -> ClusterSpec:
    """Return what a preset or a cluster file says, read and not yet built.

    Examples
    --------
    >>> find_spec("dgx-a100").summary
    'NVIDIA DGX A100: 8 A100 SXM on NVSwitch; more nodes over HDR InfiniBand rails'
    """
    name = os.fspath(name_or_path)
    if is_path(name):
        return read_spec(name, changes)
    # DGX-H100 is dgx-h100.
    name = {known.casefold(): known for known in preset_names("clusters")}.get(
        name.casefold(), name
    )
    # Whoever changes a preset knows it by its name, not by where it is installed.
    return read_spec(str(preset_path("clusters", name)), changes, called=name)


def _check_count(what: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_RANKS:
        raise InputError(
            f"{what}: got {value!r}, expected a whole number from 1 to {MAX_RANKS}"
        )


def _unjoined(spec: ClusterSpec, nodes: int) -> Exception:
    if spec.values == {}:
        return ConfigError.broken(
            spec.file, f"nodes: got {nodes}, but links given one by one fix the number"
        )
    if spec.elastic:
        return InputError(
            f"nodes: got {nodes}, but {spec.name} is an ideal network without nodes; "
            "give its size with ranks, --ranks"
        )
    return ConfigError.broken(
        spec.file,
        f"nodes: got {nodes}, but there is no [network] that joins nodes; e.g. --set "
        "network.shape=star --set network.link=roce100 --set network.nics=1",
    )


def _resize(spec: ClusterSpec, gpus: int) -> tuple[dict[str, Any], Network | None]:
    """Return the values with so many GPUs in a node."""
    if "gpus" not in spec.values:
        what = "the shape of [node] fixes" if spec.values else "links given one by one fix"
        raise ConfigError.broken(spec.file, f"gpus_per_node: got {gpus}, but {what} the number")
    network = spec.network
    # One NIC per GPU stays one per GPU, and one for two of them stays that.
    nics = None if network is None else network.values.get("nics")
    before = spec.values["gpus"]
    if network is not None and isinstance(nics, int) and isinstance(before, int):
        values = {**network.values, "nics": -(-nics * gpus // before)}
        network = replace(network, values=values)
    return {**spec.values, "gpus": gpus}, network


def _build(
    spec: ClusterSpec,
    values: Mapping[str, Any],
    network: Network | None,
    nodes: int,
    ranks: int | None,
) -> Cluster:
    _check_total(spec, values.get("gpus", 1), nodes)
    try:
        cluster = spec.build(name=spec.name, gamma=spec.gamma, launch=spec.launch, **values)
    except InputError as error:
        raise ConfigError.broken(spec.file, f"node: {error}") from None
    # What nodes share counts where there are several.
    joined = network if ranks is None and nodes > 1 else None
    sharing = spec.sharing or (joined.sharing if joined is not None else None)
    if sharing is not None:
        cluster = replace(cluster, sharing=sharing)
    if spec.local is not None:
        cluster = with_local(cluster, spec.local)
    elsewhere = np.flatnonzero(cluster.node != cluster.node[0])
    here = int(elsewhere[0]) if elsewhere.size else cluster.ranks
    if ranks is not None and ranks > here:
        raise InputError(
            f"ranks: got {ranks}, but one node of {spec.name} has {here} GPUs; "
            "take more nodes with nodes, --nodes"
        )
    if ranks is not None:
        return first_ranks(cluster, ranks)
    if nodes == 1 or network is None:
        return cluster
    _check_total(spec, cluster.ranks, nodes)
    try:
        return network.build(cluster, nodes, **network.values)
    except InputError as error:
        raise ConfigError.broken(spec.file, f"network: {error}") from None


def _check_total(spec: ClusterSpec, gpus: int, nodes: int) -> None:
    if gpus * nodes > MAX_RANKS:
        raise InputError(
            f"nodes: {nodes} of {gpus} GPUs in {spec.name} are {gpus * nodes} ranks, "
            f"expected at most {MAX_RANKS}"
        )
