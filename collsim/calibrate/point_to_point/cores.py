"""A machine whose ranks share its cores, as a cluster: to simulate, and to write down."""

from typing import Final

from collsim.calibrate.point_to_point.fit import PointToPoint
from collsim.core.cluster import Cluster
from collsim.core.collective import check_ranks
from collsim.core.link import Bundle, LinkClass, Links
from collsim.errors import InputError
from collsim.topology import listed

__all__ = [
    "LEAST",
    "cluster_document",
    "rate_text",
    "shared_cores",
    "time_text",
    "told_document",
]

LEAST: Final = 1e-3
"""Of beta: a link shared by all that is as good as none."""


def shared_cores(found: PointToPoint, ranks: int, name: str = "measured") -> Cluster:
    """Return the cluster of ranks that share the cores of one machine.

    Every rank has a way out and a way in at the speed of a message alone, and all messages
    cross one link, the cores, on which each pays alpha and takes a lane, or waits for one.
    Where they do not hinder each other it is an ideal network.

    Examples
    --------
    >>> from collsim.core.profile import ErrorSummary, Parameter
    >>> p = [Parameter(v, None, None, u) for v, u in ((1e-5, "s"), (1e-9, "s/B"), (2e-6, "s"),
    ...     (5e-10, "s/B"))]
    >>> fit = ErrorSummary("in_sample", 0, 0, 1)
    >>> found = PointToPoint(*p, 2, Parameter(0.0, None, None, "s"), 0.0, fit, None)
    >>> shared_cores(found, 2).route(0, 1), shared_cores(found, 2).links.names
    ((1, 0, 4), ('cores', 'rank[0].up', 'rank[0].down', 'rank[1].up', 'rank[1].down'))
    """
    ranks = check_ranks(ranks)
    alpha, beta, busy, shared = _numbers(found)
    launch = found.launch.value
    if not found.shares:
        return Cluster.ideal(
            ranks, alpha, 1 / beta, gamma=found.gamma, launch=launch, name=name
        )
    cores = LinkClass("cores", alpha, 1 / shared, busy, "calibrate run", "fit")
    own = LinkClass("rank", 0.0, 1 / beta, None, "calibrate run", "fit")
    memory, hub = ranks, ranks + 1
    links = [Bundle(["cores"], cores, True, [memory], [hub], found.lanes)]
    for rank in range(ranks):
        links.append(Bundle([f"rank[{rank}].up"], own, True, [rank], [memory]))
        links.append(Bundle([f"rank[{rank}].down"], own, True, [hub], [rank]))
    return listed(
        name, [0] * ranks, Links.assemble(*links), ["memory", "cores"], {},
        gamma=found.gamma, launch=launch,
    )  # fmt: skip


def _numbers(found: PointToPoint) -> tuple[float, float, float, float]:
    alpha, beta = found.alpha.value, found.beta.value
    if beta <= 0:
        raise InputError("beta is 0, expected times that grow with the size")
    return alpha, beta, min(found.busy.value, alpha), max(found.shared.value, beta * LEAST)


def cluster_document(found: PointToPoint, ranks: int, name: str) -> dict[str, object]:
    """Return the cluster file, as a document, of ranks that share a machine's cores.

    The same cluster as :func:`shared_cores`, to be read with `-c`.

    Examples
    --------
    >>> from collsim.core.profile import ErrorSummary, Parameter
    >>> p = [Parameter(v, None, None, u) for v, u in ((1e-5, "s"), (1e-9, "s/B"), (2e-6, "s"),
    ...     (5e-10, "s/B"))]
    >>> fit = ErrorSummary("in_sample", 0, 0, 1)
    >>> found = PointToPoint(*p, 2, Parameter(0.0, None, None, "s"), 0.0, fit, None)
    >>> [link["name"] for link in cluster_document(found, 2, "mine")["links"]]
    ['cores', 'rank[0].up', 'rank[0].down', 'rank[1].up', 'rank[1].down']
    """
    check_ranks(ranks)
    alpha, beta, busy, shared = _numbers(found)
    told = {"source": "collsim calibrate run", "kind": "fit"}
    own = {"class": "rank", "alpha": "0s", "bandwidth": rate_text(beta), **told}
    links: list[dict[str, object]] = [
        {
            "name": "cores", "src": "memory", "dst": "cores", "class": "cores",
            "alpha": time_text(alpha), "alpha_busy": time_text(busy),
            "bandwidth": rate_text(shared), "lanes": found.lanes,
            **told,
        }
    ]  # fmt: skip
    for rank in range(ranks):
        links += [
            {"name": f"rank[{rank}].up", "src": rank, "dst": "memory", **own},
            {"name": f"rank[{rank}].down", "src": "cores", "dst": rank, **own},
        ]
    document: dict[str, object] = {"schema": "collsim/cluster/1", "name": name, "links": links}
    document.update(told_document(found))
    return document


def told_document(found: PointToPoint) -> dict[str, object]:
    """Return the table of a cluster file for what adding up and beginning cost, if any.

    Examples
    --------
    >>> from collsim.core.profile import ErrorSummary, Parameter
    >>> zero, fit = Parameter(0.0, None, None, "s"), ErrorSummary("in_sample", 0, 0, 1)
    >>> found = PointToPoint(zero, zero, zero, zero, 1, zero, 2e-10, fit, None)
    >>> told_document(found)["cost"]["gamma"]
    '0.2ns/B'
    """
    cost = {}
    if found.gamma:
        cost["gamma"] = f"{found.gamma * 1e9:.9g}ns/B"
    if found.launch.value:
        cost["launch"] = time_text(found.launch.value)
    if not cost:
        return {}
    return {"cost": {**cost, "source": "collsim calibrate run", "kind": "fit"}}


def time_text(seconds: float) -> str:
    """Return a time as cluster files have it.

    Examples
    --------
    >>> time_text(1.5e-6)
    '1.5us'
    """
    return f"{seconds * 1e6:.9g}us"


def rate_text(beta: float) -> str:
    """Return the bandwidth of a beta as cluster files have it.

    Examples
    --------
    >>> rate_text(1e-11)
    '100GB/s'
    """
    return f"{1 / beta * 1e-9:.9g}GB/s"
