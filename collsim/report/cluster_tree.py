"""A cluster for the reader, as a tree of text."""

from collections.abc import Sequence

from collsim.config.links import SEPARATOR
from collsim.report.cluster_data import (
    ClusterData,
    CutRow,
    FaultRow,
    LinkRow,
    PortRows,
    ProfileRow,
    RouteRow,
)
from collsim.units import format_bandwidth, format_time

__all__ = ["cluster_text"]

Item = str | tuple[str, list[str]]
"""A line, or one with lines below it."""
Part = tuple[str, Sequence[Item]]
"""A part of the tree, with its items."""

_NODES_SHOWN = 4
_FAULTS_SHOWN = 16


def cluster_text(data: ClusterData) -> str:
    """Return what :func:`collsim.report.cluster_view.cluster_data` found as a tree of text.

    Examples
    --------
    >>> from collsim import Cluster
    >>> from collsim.report.cluster_view import cluster_data
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
        _multicast(data),
    ]
    ranks = data["ranks"]
    head = (
        f"{data['cluster']}: {data['shape']}, {ranks} rank{'s' * (ranks != 1)}, "
        f"sharing {data['sharing']}"
    )
    parts: list[Part] = [
        ("nodes", _node_lines(data["nodes"])),
        ("links, each direction", [_link_lines(row) for row in data["rows"]]),
        ("ports of a GPU", _port_lines(data["ports"])),
        ("faults", _fault_lines(data["faults"])),
        ("cuts", [_cut_line(cut) for cut in data["cuts"]]),
        ("fitted profiles, --profile NAME", [_profile_line(p) for p in data["profiles"]]),
        ("routes", [_route_lines(route) for route in data["routes"]]),
    ]
    shown = [part for part in parts if part[1]]
    return "\n".join([", ".join([head, *filter(None, extras)]), *_tree(shown)])


def _multicast(data: ClusterData) -> str:
    part = data["multicast_efficiency"]
    if part is None:
        return ""
    return "multicast in the switch" + (f" at {part:g} of the bandwidth" if part < 1 else "")


def _tree(items: Sequence[Part | Item]) -> list[str]:
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


def _profile_line(profile: ProfileRow) -> str:
    ranks, nodes = (", ".join(map(str, part)) for part in (profile["ranks"], profile["nodes"]))
    return f"{profile['profile']}: {ranks} ranks of {nodes} node{'s' * (nodes != '1')}"


def _us(microseconds: float) -> str:
    return format_time(microseconds * 1e-6)


def _rate(gigabytes: float) -> str:
    return format_bandwidth(gigabytes * 1e9)


def _link_lines(row: LinkRow) -> tuple[str, list[str]]:
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


def _port_lines(ports: PortRows) -> list[str]:
    lines = []
    for name, port in zip(("out", "in"), (ports["egress"], ports["ingress"]), strict=True):
        if port is not None:
            many = f"{port['lanes']} message{'s' * (port['lanes'] > 1)} at a time"
            lines.append(f"{name}: {_rate(port['bandwidth'])}, {many}")
    return lines


def _cut_line(cut: CutRow) -> str:
    groups = f"{cut['groups']} group{'s' * (cut['groups'] != 1)}"
    each = f"{_rate(cut['out'])} out and {_rate(cut['in'])} in"
    out, into = cut.get("least_out", cut["out"]), cut.get("least_in", cut["in"])
    if (out, into) == (cut["out"], cut["in"]):
        return f"{cut['cut']}: {groups}, {each}, each"
    least = f"{_rate_or_none(out)} out and {_rate_or_none(into)} in"
    return f"{cut['cut']}: {groups}, from {least} to {each}"


def _rate_or_none(gigabytes: float) -> str:
    return _rate(gigabytes) if gigabytes else "nothing"


def _fault_lines(faults: list[FaultRow]) -> list[str]:
    lines = [
        f"{fault['name']}: {format(fault['left'], '.4g')} of its bandwidth is left"
        if fault["left"]
        else f"{fault['name']}: failed"
        for fault in faults
    ]
    if len(lines) > _FAULTS_SHOWN:
        lines[_FAULTS_SHOWN:] = [f"… {len(lines) - _FAULTS_SHOWN} more links"]
    return lines


def _route_lines(route: RouteRow) -> tuple[str, list[str]]:
    head = f"{route['src']} to {route['dst']}"
    if route["bandwidth"] is None:
        return f"{head}: no link, no time", []
    text = f"{head}: alpha {_us(route['alpha_us'])}, {_rate(route['bandwidth'])}"
    return text, [
        f"{link['name']}: alpha {_us(link['alpha_us'])}, {_rate(link['bandwidth'])}"
        for link in route["links"]
    ]
