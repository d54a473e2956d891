"""Measured nodes as a cluster: to simulate, and to write down."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from collsim.calibrate.point_to_point.cores import (
    LEAST,
    rate_text,
    shared_cores,
    time_text,
    told_document,
)
from collsim.calibrate.point_to_point.fit import PointToPoint
from collsim.calibrate.point_to_point.nodes import Nodes
from collsim.core.cluster import Cluster
from collsim.core.link import Bundle, LinkClass, Links
from collsim.topology import listed
from collsim.topology.star import join
from collsim.topology.switch import switch

__all__ = ["cluster_of", "nodes_cluster", "nodes_document"]


def cluster_of(found: PointToPoint, nodes: Nodes | None, ranks: int, name: str) -> Cluster:
    """Return the cluster that both fits of `nodes.of_rows` tell of."""
    if nodes is None:
        return shared_cores(found, ranks, name)
    return nodes_cluster(nodes, name)


def nodes_cluster(found: Nodes, name: str = "measured") -> Cluster:
    """Return the cluster of measured nodes, the one that :func:`nodes_document` describes.

    Examples
    --------
    >>> from collsim.core.profile import ErrorSummary, Parameter
    >>> p = [Parameter(v, None, None, u) for v, u in ((1e-5, "s"), (1e-9, "s/B"), (0.0, "s"),
    ...     (0.0, "s/B"))]
    >>> fit = ErrorSummary("in_sample", 0, 0, 1)
    >>> one = PointToPoint(*p, 1, Parameter(0.0, None, None, "s"), 0.0, fit, None)
    >>> nodes_cluster(Nodes(2, 4, one, one, None)).shape
    '2 nodes of 4 GPUs on a switch, one NIC per GPU on one switch'
    """
    told = found.inside or found.between
    gamma, launch = told.gamma, told.launch.value
    local = found.ranks_per_node
    if found.regular:
        node = switch(local, _link("inside", told), name, gamma=gamma, launch=launch)
        return join(node, found.nodes, _network(found.between), found.nics)
    lines = [line for node in range(found.nodes) for line in _lines(found, node)]
    ranks = found.nodes * local
    ends = [end for line in lines for end in (line.src, line.dst) if isinstance(end, str)]
    devices = list(dict.fromkeys(ends))
    vertex: dict[int | str, int] = {rank: rank for rank in range(ranks)}
    vertex |= {device: ranks + i for i, device in enumerate(devices)}
    links = [
        Bundle(
            [line.name], line.link, True, [vertex[line.src]],
            [vertex[line.dst]], line.lanes,
        )
        for line in lines
    ]  # fmt: skip
    of = [rank // local for rank in range(ranks)]
    return listed(name, of, Links.assemble(*links), devices, {}, gamma=gamma, launch=launch)


def nodes_document(found: Nodes, name: str) -> dict[str, object]:
    """Return the cluster file of measured nodes, as a document.

    Nodes on a switch, joined by another, where that tells all; else link by link, with the
    cores that ranks of a node share, and NICs that one rank alone does not fill.

    Examples
    --------
    >>> from collsim.core.profile import ErrorSummary, Parameter
    >>> p = [Parameter(v, None, None, u) for v, u in ((1e-5, "s"), (1e-9, "s/B"), (0.0, "s"),
    ...     (0.0, "s/B"))]
    >>> fit = ErrorSummary("in_sample", 0, 0, 1)
    >>> one = PointToPoint(*p, 1, Parameter(0.0, None, None, "s"), 0.0, fit, None)
    >>> document = nodes_document(Nodes(4, 8, one, one, None), "mine")
    >>> document["network"]["link"]["alpha"], document["network"]["nics"]
    ('10us', 8)
    """
    document: dict[str, object] = {"schema": "collsim/cluster/1", "name": name}
    told = found.inside or found.between
    local = found.ranks_per_node
    if found.regular:
        node, network = _link("inside", told), _network(found.between)
        document["node"] = {
            "shape": "switch", "gpus": local, "link": {"name": node.name, **_table(node)},
        }  # fmt: skip
        document["network"] = {
            "shape": "star", "nodes": found.nodes, "nics": found.nics,
            "link": {"name": network.name, **_table(network)},
        }  # fmt: skip
    else:
        document["nodes"] = [
            list(range(node * local, (node + 1) * local)) for node in range(found.nodes)
        ]
        document["links"] = [
            {
                "name": line.name, "src": line.src, "dst": line.dst,
                "class": line.link.name, "lanes": line.lanes, **_table(line.link),
            }
            for node in range(found.nodes) for line in _lines(found, node)
        ]  # fmt: skip
    document.update(told_document(told))
    return document


_SOURCE: Final = "collsim calibrate run"


def _class(name: str, alpha: float, beta: float, busy: float | None = None) -> LinkClass:
    return LinkClass(name, alpha, 1 / beta, busy, _SOURCE, "fit")


def _link(name: str, one: PointToPoint) -> LinkClass:
    return _class(name, one.alpha.value, one.beta.value)


def _network(one: PointToPoint) -> LinkClass:
    busy = min(one.busy.value, one.alpha.value) if one.shares else None
    return _class("network", one.alpha.value, one.beta.value, busy)


def _table(link: LinkClass) -> dict[str, object]:
    """Return the numbers of a link as cluster files have them."""
    busy = {"alpha_busy": time_text(link.busy)} if link.busy != link.alpha else {}
    return {
        "alpha": time_text(link.alpha), **busy, "bandwidth": rate_text(1 / link.bandwidth),
        "source": _SOURCE, "kind": "fit",
    }  # fmt: skip


@dataclass(frozen=True)
class _Line:
    """A link between two ranks or devices."""

    name: str
    src: int | str
    dst: int | str
    link: LinkClass
    lanes: int = 1


def _lines(found: Nodes, node: int) -> Iterator[_Line]:
    """Yield the links of one node: its cores, its NICs, and each rank's ways to both."""
    here = f"node[{node}]"
    between, inside, local = found.between, found.inside, found.ranks_per_node
    if inside is not None:
        lanes = inside.lanes if inside.shares else local
        yield _Line(
            f"{here}.cores", f"{here}.memory", f"{here}.cores", _shared("cores", inside), lanes
        )
    nic = _shared("nic", between)
    yield _Line(f"{here}.nic.up", f"{here}.out", "network", nic, found.nics)
    # The way in is as wide, and its start-up is paid on the way out.
    down = replace(nic, name="nic.down", alpha=0.0, alpha_busy=0.0)
    yield _Line(f"{here}.nic.down", "network", f"{here}.in", down, found.nics)
    for rank in range(node * local, (node + 1) * local):
        if inside is not None:
            own = _class("rank", 0.0, inside.beta.value)
            yield _Line(f"rank[{rank}].up", rank, f"{here}.memory", own)
            yield _Line(f"rank[{rank}].down", f"{here}.cores", rank, own)
        own = _class("rank.out", 0.0, between.beta.value)
        yield _Line(f"rank[{rank}].out", rank, f"{here}.out", own)
        yield _Line(f"rank[{rank}].in", f"{here}.in", rank, own)


def _shared(name: str, one: PointToPoint) -> LinkClass:
    """Return the link that messages at once share; at the speed of one if they don't."""
    alpha, beta = one.alpha.value, one.beta.value
    if not one.shares:
        return _class(name, alpha, beta)
    return _class(name, alpha, max(one.shared.value, LEAST * beta), min(one.busy.value, alpha))
