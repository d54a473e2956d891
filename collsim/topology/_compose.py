"""Clusters made of clusters: copies of a node, more links, fewer ranks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.link import Links

__all__ = ["Copies", "copy_devices", "copy_links", "first_ranks", "merge_links"]

IntArray = NDArray[np.int64]

_INDEX = re.compile(r"(\w+)\[(\d+)\]")


@dataclass(frozen=True, eq=False)
class Copies:
    """Where link l of a node lies among those of all: at ``first[l] + node * step[l]``."""

    first: IntArray
    step: IntArray

    def __call__(self, link: IntArray, node: IntArray) -> IntArray:
        return self.first[link] + node * self.step[link]


def copy_links(links: Links, nodes: int, gpus: int, devices: int) -> tuple[Links, Copies]:
    """Return the links of several equal nodes, and where each of them is found.

    Links whose names differ in their numbers only stay together. Everything that has a
    number is numbered on over the cluster in node order; a name without a number gets
    that of its node.

    Parameters
    ----------
    links : Links
        Of one node.
    nodes : int
        Number of copies.
    gpus, devices : int
        Vertices of one node: GPUs, and others.

    Examples
    --------
    >>> from collsim.core.link import LinkClass
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> node = Links.assemble((["gpu[0].up", "gpu[1].up", "gpu[0]>gpu[1]", "bus"], wire, True))
    >>> copy_links(node, 2, 2, 0)[0].names[4:]
    ('gpu[0]>gpu[1]', 'gpu[2]>gpu[3]', 'bus[0]', 'bus[1]')
    """
    labels = [_INDEX.sub(r"\1[]", name) for name in links.names]
    alike: dict[str, list[int]] = {}
    for link, label in enumerate(labels):
        alike.setdefault(label, []).append(link)
    parts: dict[str, int] = {"gpu": gpus}
    for name in links.names:
        for part, number in _INDEX.findall(name):
            parts[part] = max(parts.get(part, 0), int(number) + 1)
    first = np.zeros(len(links), dtype=np.int64)
    step = np.zeros(len(links), dtype=np.int64)
    origin: list[int] = []
    names: list[str] = []
    for members in alike.values():
        first[members] = len(origin) + np.arange(len(members))
        step[members] = len(members)
        for node in range(nodes):
            origin += members
            names += [_rename(links.names[i], node, parts) for i in members]
    source = np.array(origin, dtype=np.int64)
    runs = [np.repeat(np.arange(nodes), len(members)) for members in alike.values()]
    node_of = np.concatenate([np.zeros(0, dtype=np.int64), *runs])

    def ends(vertex: IntArray | None) -> IntArray | None:
        if vertex is None:
            return None
        here = vertex[source]
        device = nodes * gpus + node_of * devices + here - gpus
        return np.where(here < gpus, node_of * gpus + here, device)

    made = Links(
        names=tuple(names),
        classes=links.classes,
        kind=links.kind[source],
        alpha=links.alpha[source],
        beta=links.beta[source],
        busy=links.busy[source],
        lanes=links.lanes[source],
        tail=ends(links.tail),
        head=ends(links.head),
    )
    return made, Copies(first, step)


def copy_devices(devices: Sequence[str], nodes: int) -> tuple[str, ...]:
    """Return the names of the devices of several equal nodes, node by node.

    Examples
    --------
    >>> copy_devices(["switch[0]", "bridge"], 2)
    ('switch[0]', 'bridge[0]', 'switch[1]', 'bridge[1]')
    """
    parts: dict[str, int] = {}
    for name in devices:
        for part, number in _INDEX.findall(name):
            parts[part] = max(parts.get(part, 0), int(number) + 1)
    return tuple(_rename(name, node, parts) for node in range(nodes) for name in devices)


def _rename(name: str, node: int, parts: Mapping[str, int]) -> str:
    if _INDEX.search(name) is None:
        return f"{name}[{node}]"
    return _INDEX.sub(lambda m: f"{m[1]}[{int(m[2]) + node * parts[m[1]]}]", name)


def merge_links(one: Links, two: Links) -> Links:
    """Return the links of both, those of `two` numbered after those of `one`."""
    classes = tuple(dict.fromkeys((*one.classes, *two.classes)))
    number = np.array([classes.index(c) for c in (*one.classes, *two.classes)])
    return Links(
        names=one.names + two.names,
        classes=classes,
        kind=number[np.concatenate([one.kind, two.kind + len(one.classes)])],
        alpha=np.concatenate([one.alpha, two.alpha]),
        beta=np.concatenate([one.beta, two.beta]),
        busy=np.concatenate([one.busy, two.busy]),
        lanes=np.concatenate([one.lanes, two.lanes]),
        tail=_both(one.tail, two.tail),
        head=_both(one.head, two.head),
    )


def _both(one: IntArray | None, two: IntArray | None) -> IntArray | None:
    return None if one is None or two is None else np.concatenate([one, two])


def first_ranks(cluster: Cluster, ranks: int) -> Cluster:
    """Return a job on the first `ranks` GPUs of a cluster; the others stay idle.

    All links stay: a route may still lead over the link of an idle GPU.
    """
    if ranks == cluster.ranks:
        return cluster
    cuts = tuple(
        replace(cut, group=np.unique(cut.group[:ranks], return_inverse=True)[1])
        for cut in cluster.cuts
    )
    inside = cluster.in_switch
    idle = tuple(f"gpu[{rank}]" for rank in range(ranks, cluster.ranks))
    return replace(
        cluster,
        ranks=ranks,
        node=cluster.node[:ranks].copy(),
        devices=(*idle, *cluster.devices),
        local=None if cluster.local is None else cluster.local[:ranks].copy(),
        delay=None if cluster.delay is None else cluster.delay[:ranks].copy(),
        in_switch=inside if inside is None else inside.of(np.arange(ranks)),
        cuts=cuts,
        shape=f"{ranks} GPU{'s' if ranks > 1 else ''} of {cluster.shape}",
    )
