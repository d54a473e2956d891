"""A cluster for the reader: nodes, links, ports, cuts and the routes of pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from collsim.config.links import SEPARATOR
from collsim.core.cluster import Cluster, Ports
from collsim.errors import InputError
from collsim.report.inventory import link_values, plain
from collsim.topology import cut_rates
from collsim.units import format_bandwidth, format_time

__all__ = ["cluster_data", "cluster_text"]

Row = dict[str, Any]

_NODES_SHOWN = 4
_FAULTS_SHOWN = 16
_ROUNDING = 1e-9


def cluster_data(cluster: Cluster, routes: Sequence[tuple[int, int]] = ()) -> Row:
    """Return what there is to say of a cluster, as data for JSON.

    Parameters
    ----------
    cluster : Cluster
        What to show.
    routes : sequence of (int, int)
        Pairs of ranks whose routes are listed link by link.

    Returns
    -------
    dict
        ``cluster shape ranks nodes multicast sharing gamma_ns_per_byte launch_us ports
        cuts faults routes``, and in ``rows`` one row per link class with its number of
        links. Faults are links, each with the part of its bandwidth that is `left`, 0 for
        one that failed; a cut then has, beside its strongest group, its weakest
        (``least_out``, ``least_in``).

    Raises
    ------
    InputError
        If a pair is not of two ranks of the cluster.

    Examples
    --------
    >>> data = cluster_data(Cluster.load("dgx-h100", nodes=2), [(0, 8)])
    >>> [(row["link"], row["links"]) for row in data["rows"]]
    [('nvlink4', 32), ('ndr400', 32)]
    >>> [link["name"] for link in data["routes"][0]["links"]]
    ['nic[0].up', 'nic[8].down']
    """
    counts = np.bincount(cluster.links.kind, minlength=len(cluster.links.classes))
    faults = _faults(cluster)
    return {
        "cluster": cluster.name,
        "shape": cluster.shape,
        "ranks": cluster.ranks,
        "nodes": [np.flatnonzero(cluster.node == n).tolist() for n in range(cluster.nodes)],
        "multicast": cluster.multicast,
        "sharing": cluster.sharing,
        "gamma_ns_per_byte": plain(cluster.gamma * 1e9),
        "launch_us": plain(cluster.launch * 1e6),
        "rows": [
            {
                **link_values(link),
                "links": int(counts[i]),
                # 0 lanes: this one entry stands for a private link of every pair.
                "lanes": _lanes(cluster, i),
            }
            for i, link in enumerate(cluster.links.classes)
        ],
        "ports": {"egress": _port(cluster.egress), "ingress": _port(cluster.ingress)},
        "cuts": _cuts(cluster, bool(faults)),
        "faults": faults,
        "routes": [_route(cluster, src, dst) for src, dst in routes],
    }


def _faults(cluster: Cluster) -> list[Row]:
    """Return the links that have not the whole bandwidth of their class."""
    links = cluster.links
    whole = np.array([link.bandwidth for link in links.classes])[links.kind]
    left = 1.0 / (links.beta * whole) if links.kind.size else whole
    return [
        {"name": links.names[i], "left": plain(left[i])}
        for i in np.flatnonzero(left < 1 - _ROUNDING)
    ]


def _cuts(cluster: Cluster, hurt: bool) -> list[Row]:
    cuts: list[Row] = [
        {
            "cut": cut.name,
            "groups": int(np.unique(cut.group).size),
            "out": plain(cut.out_rate / 1e9),
            "in": plain(cut.in_rate / 1e9),
        }
        for cut in cluster.cuts
    ]
    for row, rates in zip(cuts, cut_rates(cluster) if hurt else (), strict=hurt):
        for way, groups in zip(("out", "in"), rates, strict=True):
            row[f"least_{way}"] = min(plain(float(groups.min()) / 1e9), row[way])
    return cuts


def _lanes(cluster: Cluster, kind: int) -> int | None:
    lanes = cluster.links.lanes[cluster.links.kind == kind]
    return int(lanes.max()) or None if lanes.size else None


def _port(port: Ports | None) -> Row | None:
    return None if port is None else {"bandwidth": plain(1e-9 / port.beta), "lanes": port.lanes}


def _route(cluster: Cluster, src: int, dst: int) -> Row:
    for rank in (src, dst):
        if not 0 <= rank < cluster.ranks:
            raise InputError(
                f"routes: got rank {rank}, expected ranks from 0 to {cluster.ranks - 1}"
            )
    links = cluster.links
    route = cluster.route(src, dst)
    crossed = [
        {
            "name": links.names[i],
            "link": links.classes[links.kind[i]].name,
            "alpha_us": plain(links.alpha[i] * 1e6),
            "alpha_busy_us": plain(links.busy[i] * 1e6),
            "bandwidth": plain(1e-9 / links.beta[i]),
        }
        for i in route
    ]
    return {
        "src": src,
        "dst": dst,
        "alpha_us": plain(sum(links.alpha[i] for i in route) * 1e6),
        "bandwidth": min((link["bandwidth"] for link in crossed), default=None),
        "links": crossed,
    }


def cluster_text(data: Row) -> str:
    """Return what :func:`cluster_data` found as a tree of text.

    Examples
    --------
    >>> print(cluster_text(cluster_data(Cluster.ideal(4, "10us", "900GB/s"), [(0, 3)])))
    ideal: ideal one-port network, 4 ranks, sharing fifo
    ├─ nodes
    │  └─ node 0: GPUs 0-3
    ├─ links, each direction
    │  └─ link: one per pair, alpha 10us, 900GB/s, busy for 10us a message
    │     └─ assumption: given
    ├─ ports of a GPU
    │  ├─ out: 900GB/s, 1 message at a time
    │  └─ in: 900GB/s, 1 message at a time
    ├─ cuts
    │  └─ rank: 4 groups, 900GB/s out and 900GB/s in, each
    └─ routes
       └─ 0 to 3: alpha 10us, 900GB/s
          └─ link: alpha 10us, 900GB/s
    """
    extras = [
        f"gamma {data['gamma_ns_per_byte']:g}ns/B" * bool(data["gamma_ns_per_byte"]),
        f"launch {_us(data['launch_us'])}" * bool(data["launch_us"]),
        "multicast in the switch" * data["multicast"],
    ]
    ranks = data["ranks"]
    head = (
        f"{data['cluster']}: {data['shape']}, {ranks} rank{'s' * (ranks != 1)}, "
        f"sharing {data['sharing']}"
    )
    parts: list[tuple[str, list[Any]]] = [
        ("nodes", _node_lines(data["nodes"])),
        ("links, each direction", [_link_lines(row) for row in data["rows"]]),
        ("ports of a GPU", _port_lines(data["ports"])),
        ("faults", _fault_lines(data["faults"])),
        ("cuts", [_cut_line(cut) for cut in data["cuts"]]),
        ("routes", [_route_lines(route) for route in data["routes"]]),
    ]
    shown = [part for part in parts if part[1]]
    return "\n".join([", ".join([head, *filter(None, extras)]), *_tree(shown)])


def _tree(items: Sequence[Any]) -> list[str]:
    """Draw items, each a line or a pair of a line and the items below it."""
    lines = []
    for i, item in enumerate(items):
        text, below = item if isinstance(item, tuple) else (item, [])
        last = i == len(items) - 1
        lines.append(f"{'└' if last else '├'}─ {text}")
        lines += [f"{' ' if last else '│'}  {line}" for line in _tree(below)]
    return lines


def _node_lines(nodes: list[list[int]]) -> list[str]:
    lines = [f"node {n}: {_span(ranks)}" for n, ranks in enumerate(nodes)]
    if len(lines) > _NODES_SHOWN:
        skipped = len(lines) - _NODES_SHOWN + 1
        lines[_NODES_SHOWN - 2 : -1] = [f"… {skipped} more nodes"]
    return lines


def _span(ranks: list[int]) -> str:
    if len(ranks) == 1:
        return f"GPU {ranks[0]}"
    if ranks[-1] - ranks[0] == len(ranks) - 1:
        return f"GPUs {ranks[0]}-{ranks[-1]}"
    return f"GPUs {' '.join(map(str, ranks))}"


def _us(microseconds: float) -> str:
    return format_time(microseconds * 1e-6)


def _rate(gigabytes: float) -> str:
    return format_bandwidth(gigabytes * 1e9)


def _link_lines(row: Row) -> tuple[str, list[str]]:
    count = f"{row['links']} link{'s' * (row['links'] != 1)}"
    if row["lanes"] is None:
        # One entry that stands for a link of every pair, or links that limit nothing.
        count = "one per pair" if row["links"] == 1 else f"{count} without limit"
    lanes = f" of {row['lanes']} lanes" if (row["lanes"] or 1) > 1 else ""
    cost = f", alpha {_us(row['alpha_us'])}, {_rate(row['bandwidth'])}"
    busy = f", busy for {_us(row['alpha_busy_us'])} a message"
    if row["lanes"] is None and row["links"] != 1:
        # What such a link is said to carry is that of the link behind it.
        cost = busy = ""
    text = f"{row['link']}: {count}{lanes}{cost}{busy}"
    sources = row["source"].split(SEPARATOR)
    if len(sources) > 1:
        return text, sources
    return text, [": ".join(filter(None, [row["kind"], row["source"]]))]


def _port_lines(ports: dict[str, Row | None]) -> list[str]:
    lines = []
    for name, port in zip(("out", "in"), (ports["egress"], ports["ingress"]), strict=True):
        if port is not None:
            many = f"{port['lanes']} message{'s' * (port['lanes'] > 1)} at a time"
            lines.append(f"{name}: {_rate(port['bandwidth'])}, {many}")
    return lines


def _cut_line(cut: Row) -> str:
    groups = f"{cut['groups']} group{'s' * (cut['groups'] != 1)}"
    each = f"{_rate(cut['out'])} out and {_rate(cut['in'])} in"
    if (cut.get("least_out", cut["out"]), cut.get("least_in", cut["in"])) == (
        cut["out"],
        cut["in"],
    ):
        return f"{cut['cut']}: {groups}, {each}, each"
    least = f"{_rate_or_none(cut['least_out'])} out and {_rate_or_none(cut['least_in'])} in"
    return f"{cut['cut']}: {groups}, from {least} to {each}"


def _rate_or_none(gigabytes: float) -> str:
    return _rate(gigabytes) if gigabytes else "nothing"


def _fault_lines(faults: list[Row]) -> list[str]:
    lines = [
        f"{fault['name']}: {format(fault['left'], '.4g')} of its bandwidth is left"
        if fault["left"]
        else f"{fault['name']}: failed"
        for fault in faults
    ]
    if len(lines) > _FAULTS_SHOWN:
        lines[_FAULTS_SHOWN:] = [f"… {len(lines) - _FAULTS_SHOWN} more links"]
    return lines


def _route_lines(route: Row) -> tuple[str, list[str]]:
    head = f"{route['src']} to {route['dst']}"
    if not route["links"]:
        return f"{head}: no link, no time", []
    text = f"{head}: alpha {_us(route['alpha_us'])}, {_rate(route['bandwidth'])}"
    return text, [
        f"{link['name']}: alpha {_us(link['alpha_us'])}, {_rate(link['bandwidth'])}"
        for link in route["links"]
    ]
