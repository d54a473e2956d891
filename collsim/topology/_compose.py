"""Clusters made of clusters: copies of a node, more links, fewer ranks."""

import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut
from collsim.core.link import Links

__all__ = ["Copies", "copy_links", "first_ranks", "merge_links"]

IntArray = NDArray[np.int64]

_INDEX = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, eq=False)
class Copies:
    """Where link l of a node lies among those of all: at ``first[l] + node * step[l]``."""

    first: IntArray
    step: IntArray

    def __call__(self, link: IntArray, node: IntArray) -> IntArray:
        return self.first[link] + node * self.step[link]


def copy_links(links: Links, nodes: int) -> tuple[Links, Copies]:
    """Return the links of several equal nodes, and where each of them is found.

    Links whose names differ in their number only stay together and are numbered on over
    the cluster in node order; a name without a number gets that of its node.

    Examples
    --------
    >>> from collsim.core.link import LinkClass
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> node = Links.assemble((["up[0]", "up[1]", "bus"], wire, True))
    >>> copy_links(node, 2)[0].names
    ('up[0]', 'up[1]', 'up[2]', 'up[3]', 'bus[0]', 'bus[1]')
    """
    labels = [_INDEX.sub("[]", name, count=1) for name in links.names]
    alike: dict[str, list[int]] = {}
    for link, label in enumerate(labels):
        alike.setdefault(label, []).append(link)
    first = np.zeros(len(links), dtype=np.int64)
    step = np.zeros(len(links), dtype=np.int64)
    origin: list[int] = []
    names: list[str] = []
    for members in alike.values():
        first[members] = len(origin) + np.arange(len(members))
        step[members] = len(members)
        for node in range(nodes):
            origin += members
            names += [_rename(links.names[i], node, node * len(members)) for i in members]
    source = np.array(origin, dtype=np.int64)
    made = Links(
        names=tuple(names),
        classes=links.classes,
        kind=links.kind[source],
        alpha=links.alpha[source],
        beta=links.beta[source],
        busy=links.busy[source],
        lanes=links.lanes[source],
    )
    return made, Copies(first, step)


def _rename(name: str, node: int, shift: int) -> str:
    found = _INDEX.search(name)
    if found is None:
        return f"{name}[{node}]"
    return f"{name[: found.start()]}[{int(found[1]) + shift}]{name[found.end() :]}"


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
    )


def first_ranks(cluster: Cluster, ranks: int) -> Cluster:
    """Return a job on the first `ranks` GPUs of a cluster; the others stay idle.

    All links stay: a route may still lead over the link of an idle GPU.
    """
    if ranks == cluster.ranks:
        return cluster
    cuts = tuple(
        Cut(
            cut.name,
            np.unique(cut.group[:ranks], return_inverse=True)[1],
            cut.out_rate,
            cut.in_rate,
        )
        for cut in cluster.cuts
    )
    return replace(
        cluster,
        ranks=ranks,
        node=cluster.node[:ranks].copy(),
        cuts=cuts,
        shape=f"{ranks} GPU{'s' if ranks > 1 else ''} of {cluster.shape}",
    )
