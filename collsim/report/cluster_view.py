"""A cluster for the reader, as data: nodes, links, ports, cuts and the routes of pairs."""

from collections.abc import Sequence

import numpy as np

from collsim.config.fitted import IDEAL
from collsim.core.cluster import Cluster, Ports
from collsim.errors import InputError
from collsim.report.cluster_data import (
    ClusterData,
    CutRow,
    FaultRow,
    PortRow,
    ProfileRow,
    RouteLink,
    RouteRow,
)
from collsim.report.inventory import link_values, plain, shipped_profiles
from collsim.topology import cut_rates

__all__ = ["cluster_data"]

_ROUNDING = 1e-9


def cluster_data(cluster: Cluster, routes: Sequence[tuple[int, int]] = ()) -> ClusterData:
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
        ``cluster shape ranks nodes multicast multicast_efficiency sharing
        gamma_ns_per_byte launch_us ports cuts faults profiles routes``, and in ``rows`` one row
        per link class with its number of links. Faults are links, each with the part of its
        bandwidth that is `left`, 0 for one that failed; a cut then has, beside its strongest
        group, its weakest (``least_out``, ``least_in``).

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
    inside = cluster.in_switch
    return {
        "cluster": cluster.name,
        "shape": cluster.shape,
        "ranks": cluster.ranks,
        "nodes": [np.flatnonzero(cluster.node == n).tolist() for n in range(cluster.nodes)],
        "multicast": cluster.multicast,
        # Null where the switch of some node can't: one that is broken, or of another kind.
        "multicast_efficiency": None if inside is None else plain(inside.efficiency),
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
        "profiles": _profiles(cluster.name),
        "routes": [_route(cluster, src, dst) for src, dst in routes],
    }


def _faults(cluster: Cluster) -> list[FaultRow]:
    """Return the links that have not the whole bandwidth of their class."""
    links = cluster.links
    whole = np.array([link.bandwidth for link in links.classes])[links.kind]
    left = 1.0 / (links.beta * whole) if links.kind.size else whole
    return [
        {"name": links.names[i], "left": plain(left[i])}
        for i in np.flatnonzero(left < 1 - _ROUNDING)
    ]


def _cuts(cluster: Cluster, hurt: bool) -> list[CutRow]:
    cuts: list[CutRow] = [
        {
            "cut": cut.name,
            "groups": int(np.unique(cut.group).size),
            "out": plain(cut.out_rate / 1e9),
            "in": plain(cut.in_rate / 1e9),
        }
        for cut in cluster.cuts
    ]
    for row, (out, into) in zip(cuts, cut_rates(cluster) if hurt else (), strict=hurt):
        row["least_out"] = min(plain(float(out.min()) / 1e9), row["out"])
        row["least_in"] = min(plain(float(into.min()) / 1e9), row["in"])
    return cuts


def _profiles(cluster: str) -> list[ProfileRow]:
    """Return the shipped profiles that were fitted on a cluster."""
    # "ideal" is no machine: such a profile is of one that has no preset.
    own = (profile for profile in shipped_profiles() if profile.cluster == cluster != IDEAL)
    return [
        {
            "profile": profile.name,
            "collectives": list(profile.collectives),
            "ranks": list(profile.ranks),
            "nodes": list(profile.nodes),
            "library": profile.library,
        }
        for profile in own
    ]


def _lanes(cluster: Cluster, kind: int) -> int | None:
    lanes = cluster.links.lanes[cluster.links.kind == kind]
    return int(lanes.max()) or None if lanes.size else None


def _port(port: Ports | None) -> PortRow | None:
    return None if port is None else {"bandwidth": plain(1e-9 / port.beta), "lanes": port.lanes}


def _route(cluster: Cluster, src: int, dst: int) -> RouteRow:
    for rank in (src, dst):
        if not 0 <= rank < cluster.ranks:
            raise InputError(
                f"routes: got rank {rank}, expected ranks from 0 to {cluster.ranks - 1}"
            )
    links = cluster.links
    route = cluster.route(src, dst)
    crossed: list[RouteLink] = [
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
