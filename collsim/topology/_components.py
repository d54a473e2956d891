"""Parts of a cluster by name: ``nic[3]``, ``nic[1:3]``, ``gpu[0]>gpu[1]``, ``leaf[2].up``."""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.errors import InputError, nearest
from collsim.topology._graph import Graph

__all__ = ["find_links", "find_rank"]

IntArray = NDArray[np.int64]

_PART = re.compile(r"(\w+)\[(\d{1,9})\]", re.ASCII)
_OF_NODE = re.compile(r"(\w+)\[(\d{1,9}):(\d{1,9})\]", re.ASCII)


def find_links(cluster: Cluster, component: str) -> IntArray:
    """Return the links of a part of a cluster.

    Parameters
    ----------
    cluster : Cluster
        Whose links have names and ends.
    component : str
        A link by its whole name (``nic[3].up``, ``gpu[0]>gpu[1]``); a part, with all links
        that are named after it or end at it, in both directions (``nic[3]``,
        ``switch[0]``), or with those that leave or enter it (``.up``, ``.down``); or
        both directions between two GPUs (``gpu[0]<>gpu[1]``). Parts are counted over the
        cluster in node order; ``nic[1:3]`` is the part with index 3 among those of node 1.

    Raises
    ------
    InputError
        If there is no such part; the message names the nearest that there is. If it is no
        text.

    Examples
    --------
    >>> two = Cluster.load("dgx-h100", nodes=2)
    >>> [two.links.names[i] for i in find_links(two, "nic[1:3]")]
    ['nic[11].up', 'nic[11].down']
    """
    if not isinstance(component, str):
        raise InputError(
            f"component: got {component!r}, expected a name such as 'nic[3]', each by itself"
        )
    graph = Graph(cluster)
    name = _OF_NODE.sub(lambda m: _of_node(graph, component, m), component.strip())
    names = cluster.links.names
    wanted = {name}
    if "<>" in name:
        one, _, two = name.partition("<>")
        wanted = {f"{one}>{two}", f"{two}>{one}"}
    exact = [i for i, known in enumerate(names) if known in wanted]
    if exact:
        return np.array(exact)
    part, dot, way = name.rpartition(".") if name.endswith((".up", ".down")) else (name, "", "")
    links = _of_part(graph, part)
    if dot:
        vertex = _vertex(cluster, part)
        ends = cluster.links.tail if way == "up" else cluster.links.head
        links = links[ends[links] == vertex] if ends is not None else links[:0]
    if not links.size:
        raise _unknown(cluster, component, name)
    return links


def find_rank(cluster: Cluster, name: str) -> int:
    """Return the rank that ``rank[3]`` names, or ``rank[1:3]``, the third after 0 of node 1.

    Raises
    ------
    InputError
        If there is no such rank.
    """
    found = re.fullmatch(r"rank\[(?:(\d{1,9}):)?(\d{1,9})\]", name.strip(), re.ASCII)
    last = f"rank[{cluster.ranks - 1}]"
    if found is not None:
        rank = int(found[2])
        if found[1] is not None:
            of_node = np.flatnonzero(cluster.node == int(found[1]))
            rank = int(of_node[rank]) if rank < of_node.size else cluster.ranks
        if rank < cluster.ranks:
            return rank
    raise InputError(f"unknown rank {name!r} in cluster {cluster.name!r}, expected "
                     f"rank[0] to {last}")  # fmt: skip


def _of_part(graph: Graph, part: str) -> IntArray:
    """Return the links that are named after a part, or end at a device of that name."""
    cluster = graph.cluster
    found = {
        i
        for i, name in enumerate(cluster.links.names)
        if part in name.split(">") or name.startswith(f"{part}.")
    }
    vertex = _vertex(cluster, part)
    if vertex >= cluster.ranks:
        for ends in (cluster.links.tail, cluster.links.head):
            found |= set(np.flatnonzero(ends == vertex).tolist())
    return np.array(sorted(found), dtype=np.int64)


def _vertex(cluster: Cluster, part: str) -> int:
    if part in cluster.devices:
        return cluster.ranks + cluster.devices.index(part)
    for rank in range(cluster.ranks):
        if cluster.vertex(rank) == part:
            return rank
    return -1


def _of_node(graph: Graph, component: str, match: re.Match[str]) -> str:
    """Return the name, counted over the cluster, of a part that is counted in its node."""
    cluster = graph.cluster
    kind, node, index = match[1], int(match[2]), int(match[3])
    owner = graph.owner(cluster.node)
    tail, head = cluster.links.tail, cluster.links.head
    homes: dict[str, int] = {}
    for i, name in enumerate(cluster.links.names):
        for part in _parts([name]):
            ends = [int(owner[end[i]]) for end in (tail, head) if end is not None]
            homes[part] = max(homes.get(part, -1), *ends)
    for i in range(graph.vertices):
        homes[cluster.vertex(i)] = int(owner[i])
    mine = sorted(
        int(found[2])
        for part, home in homes.items()
        if home == node and (found := _PART.fullmatch(part)) and found[1] == kind
    )
    if index >= len(mine):
        has = f"{kind}[{node}:0] to {kind}[{node}:{len(mine) - 1}]" if mine else f"no {kind}"
        raise InputError(
            f"no {component!r} in cluster {cluster.name!r}: node {node} has {has}"
            if node < cluster.nodes
            else f"no {component!r} in cluster {cluster.name!r}: nodes are 0 to "
            f"{cluster.nodes - 1}"
        )
    return f"{kind}[{mine[index]}]"


def _parts(names: Iterable[str]) -> set[str]:
    return {match[0] for name in names for match in _PART.finditer(name)}


def _unknown(cluster: Cluster, component: str, name: str) -> InputError:
    parts = _parts([*cluster.links.names, *cluster.devices])
    plain = [n for n in (*cluster.links.names, *cluster.devices) if not _PART.search(n)]
    kinds: dict[str, list[int]] = {}
    for part in parts:
        kind, _, index = part.rstrip("]").partition("[")
        kinds.setdefault(kind, []).append(int(index))
    ranges = [
        f"{kind}[0] to {kind}[{max(numbers)}]" if len(numbers) > 1 else f"{kind}[{numbers[0]}]"
        for kind, numbers in sorted(kinds.items())
    ]
    meant = None
    found = _PART.match(name)
    if found is None or found[1] not in kinds:
        # The kind first: all parts of one are equally near to a misspelt one.
        bare = re.match(r"[^\W\d]*", name)
        kind_meant = nearest(bare[0] if bare else name, [*kinds, *plain])
        number = re.search(r"\d+", name)
        index = number[0] if number else "0"
        meant = f"{kind_meant}[{index}]" if kind_meant in kinds else kind_meant
    hint = f"; did you mean {meant!r}?" if meant else ""
    if cluster.nodes == 1 and re.match(r"(nic|leaf|spine|pod|core)(\[|\d|$)", name):
        hint = "; the network between nodes comes with more of them, as with nodes=2, --nodes 2"
    known = ", ".join([*ranges, *sorted(set(plain))][:12]) or "none"
    return InputError(f"no {component!r} in cluster {cluster.name!r}{hint} (known: {known})")
